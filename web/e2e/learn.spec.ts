// The place Learn: one lesson from the map to its end, every lesson in both languages with right
// and wrong answers, and
// predictions. The answers are the examples that stand in the files of the lessons.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConsoleMessage, Locator, Page } from '@playwright/test'
import { parse } from 'yaml'
import { objections } from './axe'
import { faults } from './boxes'
import { expect, refused, serverAway, test, type Simulator } from './simulator'

// A sandbox that was left has no API any more.
test.beforeEach(({ allowed }) => {
  allowed.push(refused(503), refused(404), serverAway)
})

interface Change {
  create?: unknown
  apply?: unknown
  patch?: { kind: string; name: string; namespace?: string; patch: unknown }
  /** An object, or nodes by an expression: the node of the first pod of a workload. */
  delete?: { kind: string; name: string; namespace?: string; nodes?: string; pods?: string }
  configure?: unknown
}
interface Predicted {
  crossedOut?: string[]
  picked: string
}
interface Example {
  id: string
  kind?: 'question' | 'state' | 'predict'
  number?: boolean
  multiple?: boolean
  options?: string[]
  right: unknown[] | Predicted
  wrong?: unknown[]
}
interface LessonFile {
  id: string
  kind: string
  checks: Map<string, Example>
}

const folder = join(import.meta.dirname, '../../simulator/lesson')
function filesOf(kind: 'lessons' | 'challenges'): LessonFile[] {
  return readdirSync(join(folder, kind))
    .filter((name) => name.endsWith('.en.md'))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, kind, name), 'utf8')
      const blocks = [...text.matchAll(/^```yaml (check|predict)\n(.*?)^```/gms)].map(
        ([, block, yaml]) =>
          ({ ...(block === 'predict' ? { kind: 'predict' } : {}), ...(parse(yaml ?? '') as object) }) as Example
      )
      return {
        id: /^id: (\S+)/m.exec(text)?.[1] ?? '',
        kind,
        checks: new Map(blocks.map((check) => [check.id, check])),
      }
    })
}
const all = [...filesOf('lessons'), ...filesOf('challenges')]

const panel = (page: Page) => page.getByTestId('lesson-panel')
const title = (page: Page) => panel(page).getByTestId('step-title')

async function enter(page: Page, simulator: Simulator, id: string): Promise<void> {
  const errors: string[] = []
  const note = (message: ConsoleMessage) => message.type() === 'error' && errors.push(message.text())
  page.on('console', note)
  await page.goto(`${simulator.url}/learn/${id}`)
  await page.getByTestId('enter-lesson').click()
  await page.waitForURL(new RegExp(`/branches/lesson-${id}/`))
  await expect(title(page)).toBeVisible({ timeout: 60_000 })
  page.off('console', note)
  expect(errors, 'errors while the sandbox starts').toEqual([])
}
async function leave(page: Page, simulator: Simulator): Promise<void> {
  await page.getByTestId('branch-leave').click()
  await page.waitForURL(`${simulator.url}/learn`)
}
const lists = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value])

/** Gives one answer to a question. */
async function answer(card: Locator, check: Example, value: unknown): Promise<void> {
  if (check.number || !(await card.locator('fieldset').count())) await card.locator('input.in').fill(String(value))
  else if (check.multiple) {
    const wanted = lists(value).map(String)
    for (const box of await card.getByRole('checkbox').all())
      await box.setChecked(wanted.includes(await box.inputValue()))
  } else await card.locator(`input[value="${String(value)}"]`).check()
  await card.locator('button.primary').click()
}

/** Plays a change of a state check on the cluster of the sandbox, as a learner would by kubectl. */
async function play(simulator: Simulator, id: string, change: Change): Promise<void> {
  const at = `${simulator.url}/branches/lesson-${id}`
  const call = async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const response = await fetch(`${at}${path}`, {
      method,
      headers: { 'Content-Type': type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok && !(method === 'DELETE' && response.status === 404))
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  }
  for (const object of [change.create, change.apply].flat().flatMap(fromTemplate) as {
    kind: string
    metadata: { name: string; namespace?: string }
  }[]) {
    // A pod of that name may still be on its way out.
    await expect(() => call('POST', collectionOf(object.kind, object.metadata.namespace), object)).toPass({
      timeout: 20_000,
    })
  }
  if (change.patch) {
    const { kind, name, namespace, patch } = change.patch
    await call(
      'PATCH',
      `${collectionOf(kind, namespace)}/${name}`,
      patch,
      Array.isArray(patch) ? 'application/json-patch+json' : 'application/strategic-merge-patch+json'
    )
  }
  const owner = /p\.owner == "(.*?)"/.exec(change.delete?.nodes ?? '')?.[1]
  if (change.delete?.pods) await call('DELETE', collectionOf('Pod'))
  else if (owner) {
    const { items } = (await (await fetch(`${at}${collectionOf('Pod')}`)).json()) as {
      items: { metadata: { name: string }; spec: { nodeName?: string } }[]
    }
    const node = items.find(({ metadata, spec }) => metadata.name.startsWith(`${owner}-`) && spec.nodeName)?.spec
      .nodeName
    await call('DELETE', `${collectionOf('Node')}/${node}`)
  } else if (change.delete)
    await call('DELETE', `${collectionOf(change.delete.kind, change.delete.namespace)}/${change.delete.name}`)
  if (change.configure) await call('PUT', '/api/v1/schedulerconfiguration', change.configure)
}
const apis: Record<string, string> = {
  Node: '/api/v1/nodes',
  Pod: '/api/v1/namespaces/NS/pods',
  Deployment: '/apis/apps/v1/namespaces/NS/deployments',
  ReplicaSet: '/apis/apps/v1/namespaces/NS/replicasets',
  ResourceQuota: '/api/v1/namespaces/NS/resourcequotas',
  PriorityClass: '/apis/scheduling.k8s.io/v1/priorityclasses',
  PodGroup: '/apis/scheduling.volcano.sh/v1beta1/namespaces/NS/podgroups',
  ClusterQueue: '/apis/kueue.x-k8s.io/v1beta2/clusterqueues',
}
/** Makes the objects of a template, whose only expression is the number of each. */
function fromTemplate(one: unknown): unknown[] {
  const { count, template } = (one ?? {}) as { count?: number; template?: unknown }
  if (!template) return one === undefined ? [] : [one]
  return Array.from(
    { length: count ?? 1 },
    (_, i) => JSON.parse(JSON.stringify(template).replaceAll('${i + 1}', String(i + 1))) as unknown
  )
}
function collectionOf(kind: string, namespace = 'default'): string {
  const path = apis[kind]
  if (!path) throw new Error(`the test does not know where ${kind} objects are served`)
  return `/kubernetes${path.replace('NS', namespace)}`
}

/** Predicts on the page of the check, and goes back to the lesson's page. */
async function predict(
  page: Page,
  card: Locator,
  { crossedOut = [], picked }: Predicted,
  passed: boolean
): Promise<void> {
  await card.getByRole('link').click()
  const stage = page.getByTestId('predict-stage')
  for (const node of crossedOut)
    await stage
      .locator('thead tr.feet td')
      .nth(await columnOf(stage, node))
      .locator('button')
      .first()
      .click()
  if (picked)
    await stage
      .locator('thead tr.feet td')
      .nth(await columnOf(stage, picked))
      .locator('button.win')
      .click()
  await page.getByTestId('ask-scheduler').click()
  await expect(page.getByTestId('graded')).toHaveAttribute('data-passed', String(passed))
  while (!(await page.getByTestId('reveal-next').getAttribute('aria-disabled'))?.includes('true'))
    await page.keyboard.press('ArrowRight')
  await page.getByTestId('show-page').click()
}
async function columnOf(stage: Locator, node: string): Promise<number> {
  await expect(stage.locator(`th[data-node="${node}"]`)).toBeVisible()
  const names = await stage
    .locator('th[data-node]')
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('data-node')))
  // The first cell of the row is empty.
  return names.indexOf(node) + 1
}

/** Passes every check of the step that is shown; the wrong answers come first. */
async function passStep(page: Page, simulator: Simulator, { id, checks }: LessonFile): Promise<void> {
  const button = panel(page).getByTestId('do-step')
  if (await button.count()) {
    await button.click()
    await expect(panel(page).locator('.do [role="status"]')).toBeVisible({ timeout: 30_000 })
  }
  const names = await panel(page)
    .locator('form[data-check]')
    .evaluateAll((forms) => forms.map((form) => form.getAttribute('data-check') ?? ''))
  for (const name of names) {
    const check = checks.get(name)
    const card = panel(page).locator(`form[data-check="${name}"]`)
    expect(check, `${id}/${name} in the file`).toBeDefined()
    if (!check) continue
    if (check.kind === 'question') {
      for (const wrong of check.wrong ?? []) {
        await answer(card, check, wrong)
        await expect(card.getByTestId('feedback'), `${id}/${name} ${String(wrong)}`).not.toHaveClass(/good/)
      }
      await expect(async () => {
        await answer(card, check, lists(check.right)[0])
        await expect(card.getByTestId('feedback'), `${id}/${name}`).toHaveClass(/good/, { timeout: 2000 })
      }).toPass({ timeout: 30_000 })
    } else if (check.kind === 'predict') {
      const wrong = lists(check.wrong ?? [])[0] as Predicted | undefined
      if (wrong) await predict(page, card, wrong, false)
      await predict(page, card, lists(check.right)[0] as Predicted, true)
      await expect(card).toHaveAttribute('data-passed', 'true')
    } else {
      await card.locator('button.primary').click()
      await expect(card.getByTestId('feedback')).not.toHaveClass(/good/)
      for (const change of lists(lists(check.right)[0]) as Change[]) await play(simulator, id, change)
      await expect(async () => {
        await card.locator('button.primary').click()
        await expect(card.getByTestId('feedback'), `${id}/${name}`).toHaveClass(/good/, { timeout: 2000 })
      }).toPass({ timeout: 60_000 })
    }
  }
}

async function walk(page: Page, simulator: Simulator, lesson: LessonFile): Promise<void> {
  await enter(page, simulator, lesson.id)
  const bars = await panel(page).locator('.bars button').count()
  for (let step = 0; step < bars; step++) {
    await passStep(page, simulator, lesson)
    await panel(page).getByTestId('next-step').click()
  }
  await expect(panel(page).locator('.list .pass')).toHaveCount(lesson.checks.size)
  await expect(panel(page).locator('.bars .o')).toHaveCount(0)
}

test(
  'a lesson runs in a sandbox from the map to its end, and the map remembers it',
  { tag: '@main' },
  async ({ page, simulator }) => {
    test.setTimeout(120_000)
    const lesson = all.find(({ id }) => id === 'filters')
    if (!lesson) throw new Error('there is no lesson about filters')
    await page.goto(`${simulator.url}/learn`)
    await expect(page.locator('[data-lesson]')).toHaveCount(all.length)
    await page.locator('[data-lesson="filters"] a').click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Filters cross nodes out')
    await walk(page, simulator, lesson)
    // A check leads back to its step, and the page that the step points at is outlined.
    await panel(page).locator('.list button').first().click()
    await expect(title(page)).toHaveText('The first no is enough')
    await expect(page.locator('[data-lesson-mark]')).toHaveAttribute('data-testid', 'filter-matrix')
    await leave(page, simulator)
    await expect(page.locator('[data-lesson="filters"]')).toHaveClass(/done/)
    const { items } = await simulator.call<{ items: unknown[] }>('GET', '/api/v1/branches')
    expect(items, 'the sandbox ends with its lesson').toEqual([])
    // The learner's own cluster was not touched.
    expect((await simulator.kube<{ items: unknown[] }>('GET', '/api/v1/nodes')).items).toEqual([])
  }
)

test('a starting sandbox shows its lesson, and nothing that looks like a fault', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/learn/decides`)
  await page.getByTestId('enter-lesson').click()
  await expect(page.getByTestId('sandbox-starts').getByRole('progressbar')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'What a scheduler decides' }).first()).toBeVisible()
  await expect(page.getByTestId('branch-starts')).toHaveText('sandbox starting')
  await expect(page.locator('.top')).not.toContainText(/unreachable|reconnecting|closed/)
  await expect(title(page)).toBeVisible({ timeout: 60_000 })
  await leave(page, simulator)
})

test('a step that was skipped stays open, and is offered where it is missed', async ({ page, simulator }) => {
  await enter(page, simulator, 'decides')
  await panel(page).locator('.bars button').nth(4).click()
  // Nothing has passed, so no bar is green.
  const bars = await panel(page)
    .locator('.bars button')
    .evaluateAll((all) => all.slice(0, 4).map((bar) => getComputedStyle(bar, '::before').backgroundColor))
  expect(new Set(bars)).toEqual(new Set(['rgba(0, 0, 0, 0)']))
  const skipped = panel(page).getByTestId('skipped-step')
  await expect(skipped).toContainText('Step 1')
  await skipped.getByRole('button', { name: 'Do step 1 for me' }).click()
  await expect(skipped).toContainText('Step 4')
  await skipped.getByRole('button', { name: 'Do step 4 for me' }).click()
  await expect(skipped).toHaveCount(0)
  // A check that fails says so in the lesson's words, and in no expression.
  await panel(page).locator('form[data-check] button.primary').last().click()
  await expect(panel(page).getByTestId('feedback')).toContainText('There should be two nodes left')
  await expect(panel(page).getByTestId('feedback')).not.toContainText(/size\(|==/)
  // From the end, each open check leads to its step.
  await panel(page).getByTestId('next-step').click()
  for (const check of await panel(page).locator('.list li').all()) await expect(check.getByRole('button')).toBeVisible()
  await panel(page).locator('.list button').first().click()
  await expect(title(page)).toHaveText('From Pending to a node')
  await leave(page, simulator)
})

test('a prediction has room beside its lesson, and on a small screen above it', async ({ page, simulator }) => {
  await enter(page, simulator, 'filters')
  await panel(page).locator('.bars button').nth(3).click()
  // A step whose check was skipped does not count as done.
  await expect(panel(page).locator('.bars .o').first()).toHaveAccessibleName(/check open$/)
  await panel(page).locator('form[data-check="api"] a').click()
  await expect(page.locator('th[data-node="node-e"]')).toBeInViewport({ ratio: 1 })
  await expect(page.getByTestId('ask-scheduler')).toBeInViewport({ ratio: 1 })
  await page.getByTestId('show-page').click()
  await page.setViewportSize({ width: 390, height: 844 })
  await panel(page).locator('form[data-check="api"] a').click()
  await expect(panel(page)).toHaveClass(/folded/)
  await expect(page.locator('thead tr.feet button').first()).toBeInViewport({ ratio: 1 })
  await page.goBack()
  await expect(title(page)).toBeVisible()
  await leave(page, simulator)
})

test('an exercise is made from a seed, answered by keys and revealed plugin by plugin', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/learn/predict?plugin=NodeResourcesFit&level=1&seed=7`)
  const stage = page.getByTestId('predict-stage')
  await expect(stage).toBeVisible()
  const names = await stage.locator('th[data-node]').allInnerTexts()
  await page.keyboard.press('1')
  await page.keyboard.press('x')
  await page.keyboard.press('2')
  await page.keyboard.press('w')
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('graded')).toBeVisible()
  const said = page.getByTestId('reveal-said')
  const first = await said.innerText()
  await expect(page.getByTestId('reveal-next')).toBeFocused()
  for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowRight')
  await expect(stage.locator('[data-verdict="in"]')).toHaveCount(0)
  for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowLeft')
  await expect(said).toHaveText(first)
  await page.reload()
  await expect(stage).toBeVisible()
  expect(await stage.locator('th[data-node]').allInnerTexts()).toEqual(names)
  await expect(page.getByTestId('graded')).toHaveCount(0)
})

test('a class counts hands and steps through by arrows', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/learn/predict?plugin=TaintToleration&level=1&seed=3`)
  await page.getByTestId('class-mode').click()
  const screen = page.getByTestId('predict-class')
  await page.keyboard.press('Digit1')
  await page.keyboard.press('Digit2')
  await page.keyboard.press('Digit2')
  await expect(screen.locator('.eq')).toContainText('3')
  await page.keyboard.press('ArrowRight')
  await expect(screen.locator('.pos')).toContainText('1 /')
  expect(await objections(page, { within: '[data-testid="predict-class"]' })).toEqual([])
  await page.keyboard.press('Escape')
  await expect(screen).toHaveCount(0)
})

test('progress moves to another browser as a file, and another file is refused', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/learn`)
  const file = page.getByTestId('progress-file')
  await file.setInputFiles({
    name: 'mine.json',
    mimeType: 'application/json',
    buffer: Buffer.from(
      JSON.stringify({
        kind: 'LearningProgress',
        version: 1,
        lessons: { scores: { at: 4, steps: 5, passed: [], done: '2026-01-01T00:00:00Z' } },
        misconceptions: { 'usage-counts': { count: 2, open: ['x'] } },
      })
    ),
  })
  await expect(page.locator('[data-lesson="scores"]')).toHaveClass(/done/)
  await expect(page.locator('[data-misconception="usage-counts"]')).toHaveAttribute('data-standing', 'counted')
  await file.setInputFiles({ name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('{}') })
  await expect(page.getByText('other.json is not a file with learning progress.')).toBeVisible()
  await expect(page.locator('[data-lesson="scores"]')).toHaveClass(/done/)
})

test('says that no lesson matches, and that a lesson is gone', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/learn?q=nothing+like+it`)
  await expect(page.getByText('No lesson matches')).toBeVisible()
  await page.getByRole('button', { name: 'Show all lessons' }).click()
  await expect(page.locator('[data-lesson]')).toHaveCount(all.length)
  await page.goto(`${simulator.url}/learn/no-such-lesson`)
  await expect(page.getByText('There is no lesson no-such-lesson')).toBeVisible()
})

for (const [theme, language] of [
  ['light', 'en'],
  ['dark', 'ja'],
] as const) {
  test(`the pages keep their boxes and axe has no objection, in the ${theme} theme, in ${language}`, async ({
    page,
    simulator,
  }) => {
    test.setTimeout(240_000)
    await page.addInitScript(
      ([t, l]) =>
        location.protocol === 'about:' || (localStorage.setItem('theme', t), localStorage.setItem('language', l)),
      [theme, language] as const
    )
    for (const path of ['/learn', '/learn/filters', '/learn/predict?plugin=PodTopologySpread&level=3&seed=11']) {
      await page.goto(simulator.url + path)
      await expect(
        page.locator('[data-lesson], [data-testid="enter-lesson"], [data-testid="predict-stage"]').first()
      ).toBeVisible()
      expect(await objections(page), path).toEqual([])
      for (const width of [390, 768, 1180, 1440, 2560]) {
        await page.setViewportSize({ width, height: 900 })
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
        expect(await faults(page), `${path} at ${width}`).toEqual([])
      }
    }
  })
}

for (const lang of ['en', 'ja'] as const) {
  for (const lesson of all) {
    test(`${lesson.kind} ${lesson.id} (${lang}): right and wrong answers are told apart`, async ({
      page,
      simulator,
    }) => {
      test.setTimeout(240_000)
      await page.addInitScript(
        (value) => location.protocol === 'about:' || localStorage.setItem('language', value),
        lang
      )
      await walk(page, simulator, lesson)
      await leave(page, simulator)
    })
  }
}
