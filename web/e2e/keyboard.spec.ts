// Every main path by keyboard alone: the focus is visible, nothing covers it, it moves in the
// order of the page, it gets out of everything that it gets into, and it returns to where it
// was when a dialog closes.

import type { Locator, Page } from '@playwright/test'
import { nodeYaml, podYaml } from './actions'
import { expect, node, pod, test, type Simulator } from './simulator'

test.use({ trace: 'off' })

interface Stop {
  name: string
  /** Its place in the document, to compare with that of the next. */
  index: number
  visible: boolean
  covered: boolean
}

/** The element that has the focus now, as the page shows it. */
async function focused(page: Page): Promise<Stop | undefined> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (!element || element === document.body) return undefined
    const name =
      `${element.tagName.toLowerCase()} “` +
      `${(element.getAttribute('aria-label') ?? element.textContent ?? '').replace(/\s+/g, ' ').trim().slice(0, 40)}”`
    // The indicator may be on the control or on the box around it; a text shows its caret.
    let visible = element.matches('textarea, [contenteditable="true"]')
    for (let at: Element | null = element, steps = 0; at && steps < 3; at = at.parentElement, steps++) {
      const style = getComputedStyle(at)
      if (
        (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) ||
        (steps && at.matches(':focus-within') && style.boxShadow !== 'none')
      )
        visible = true
    }
    const { left, top, right, bottom } = element.getBoundingClientRect()
    const [x1, x2] = [Math.max(0, left), Math.min(innerWidth, right)]
    const [y1, y2] = [Math.max(0, top), Math.min(innerHeight, bottom)]
    const points = [0.5, 0.1, 0.9].flatMap((x) =>
      [0.5, 0.1, 0.9].map((y) => [x1 + (x2 - x1) * x, y1 + (y2 - y1) * y] as const)
    )
    const label = (element as HTMLInputElement).labels?.[0]
    const covered =
      x2 <= x1 ||
      y2 <= y1 ||
      !points.some(([x, y]) => {
        const hit = document.elementFromPoint(x, y)
        return hit !== null && (element.contains(hit) || hit.contains(element) || (label?.contains(hit) ?? false))
      })
    return { name, index: [...document.querySelectorAll('*')].indexOf(element), visible, covered }
  })
}

/** Presses Tab until the focus leaves the page's last element, and returns what is wrong on the way. */
async function walk(page: Page, most = 260): Promise<string[]> {
  const wrong: string[] = []
  let last = -1
  let stops = 0
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab')
    const stop = await focused(page)
    // Behind the last element, Chromium gives the focus to the page itself.
    if (!stop) return stops ? wrong : [...wrong, 'nothing takes the focus']
    if (stop.index < last) return wrong
    if (stop.index === last) return [...wrong, `the focus is trapped in ${stop.name}`]
    last = stop.index
    stops++
    if (!stop.visible) wrong.push(`the focus is invisible on ${stop.name}`)
    if (stop.covered) wrong.push(`the focus is covered on ${stop.name}`)
  }
  return [...wrong, `no end after ${most} steps`]
}

/** Presses Tab until `target` has the focus, and checks every step. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab', most = 120): Promise<void> {
  await expect(target).toBeVisible()
  for (let i = 0; i < most; i++) {
    if (
      await target.evaluate(
        (element) =>
          element === document.activeElement ||
          (element.matches('label, .sel-b') && element.contains(document.activeElement))
      )
    )
      return
    await page.keyboard.press(key)
    const stop = await focused(page)
    if (stop) expect(stop, stop.name).toMatchObject({ visible: true, covered: false })
  }
  throw new Error(`Tab does not reach ${String(target)}`)
}

const dialog = (page: Page) => page.locator('dialog[open]')

/** Types into the editor that has the focus, as fast as a paste. */
async function type(page: Page, text: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(text)
}

async function fill(simulator: Simulator): Promise<void> {
  const { items } = await simulator.kube<{ items: object[] }>('GET', '/api/v1/nodes')
  if (items.length) return
  for (const name of ['n1', 'n2', 'n3'])
    await simulator.kube('POST', '/api/v1/nodes', node(name, { taint: name === 'n3' }))
  await simulator.ready('n1', 'n2')
  for (const name of ['web-1', 'web-2']) await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name))
}

const places: Record<string, readonly [path: string, shown: string]> = {
  cluster: ['/', '[data-node="n1"]'],
  'cluster, decision': ['/?pod=default/web-1', '[data-testid="decision-bar"]'],
  'cluster, table': ['/?view=table', '[data-node="n1"]'],
  decisions: ['/decisions', '[data-key]'],
  decision: ['/decisions/default/web-1', '[data-testid="filter-matrix"] [data-state]'],
  resources: ['/resources/nodes', '[data-key]'],
  gangs: ['/batch/gangs', '[data-try-preset]'],
  quotas: ['/batch/quotas', '[data-try-preset]'],
  queues: ['/batch/queues', '[data-testid="turn-on"]'],
  'NUMA nodes': ['/numa', '[data-try-preset]'],
  sessions: ['/batch/sessions', '[data-preset]'],
  flow: ['/batch/sessions?view=flow', '[data-preset]'],
  why: ['/why', 'h2'],
  events: ['/events', '[role="row"]'],
  replay: ['/replay', 'main code'],
  'import compared': ['/import', 'main .empty'],
  learn: ['/learn', '[data-lesson]'],
  lesson: ['/learn/filters', '[data-testid="enter-lesson"]'],
  prediction: ['/learn/predict?plugin=TaintToleration&level=2&seed=4127', '[data-testid="predict-stage"]'],
  'time line': ['/timeline', '[data-testid="playhead"]'],
  'past moment': ['/timeline?at=4', '[data-testid="past-band"]'],
  report: ['/report', 'main .empty'],
}

test('Tab passes through every page, in order, with a visible focus', async ({ page, simulator }) => {
  test.setTimeout(180_000)
  await fill(simulator)
  const wrong: string[] = []
  for (const [name, [path, shown]] of Object.entries(places)) {
    await page.goto(simulator.url + path)
    await expect(page.locator(shown).first()).toBeVisible()
    for (const line of await walk(page)) wrong.push(`${name}: ${line}`)
  }
  expect(wrong).toEqual([])
})

test('no page asks for an order of its own', async ({ page, simulator }) => {
  await fill(simulator)
  for (const [path, shown] of Object.values(places)) {
    await page.goto(simulator.url + path)
    await expect(page.locator(shown).first()).toBeVisible()
    await expect(page.locator('[tabindex]:not([tabindex="0"], [tabindex="-1"])')).toHaveCount(0)
  }
})

test(
  'a node and a pod are created, and the message about it has the focus',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await fill(simulator)
    await page.goto(simulator.url)
    const create = page.getByRole('button', { name: 'Create', exact: true }).first()
    for (const [name, yaml] of [
      ['by-keyboard', nodeYaml('by-keyboard')],
      ['by-keyboard-pod', podYaml('by-keyboard-pod')],
    ] as const) {
      await tabTo(page, create)
      await page.keyboard.press('Enter')
      const editor = dialog(page).getByRole('textbox', { name: 'Objects to create, as YAML' })
      // It is loaded when the dialog opens for the first time, and there when it opens again.
      await expect(editor).toBeFocused()
      await type(page, yaml)
      // Tab indents in the editor; Ctrl+M makes it leave the editor instead.
      await page.keyboard.press('Control+m')
      await tabTo(page, dialog(page).getByTestId('create-submit'))
      await page.keyboard.press('Enter')
      await expect(dialog(page), name).toHaveCount(0)
      const message = page.locator('[data-notice]').filter({ hasText: name })
      await expect(message.and(page.locator(':focus')).or(message.locator(':focus'))).toHaveCount(1)
    }
    await expect(page.locator('[data-node] .pod', { hasText: 'by-keyboard-pod' }).first()).toBeVisible()
  }
)

test(
  'a decision opens from the list, and a cell of it opens from the matrix',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await fill(simulator)
    await page.goto(simulator.url)
    await expect(page.locator('[data-node="n1"]')).toBeVisible()
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await expect(page.locator('[data-key]').first()).toBeVisible()
    const list = page.getByRole('grid').first()
    await tabTo(page, list)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/decisions\/default\//)
    const matrix = page.getByTestId('filter-matrix').getByRole('grid')
    await tabTo(page, matrix)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await expect(page).toHaveURL(/[?&]plugin=/)
    await expect(page.getByTestId('decision-side')).toBeVisible()
    await expect(matrix).toBeFocused()
  }
)

test('a configuration is changed and applied', async ({ page, simulator }) => {
  await fill(simulator)
  await page.goto(simulator.url)
  await expect(page.locator('[data-node="n1"]')).toBeVisible()
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await expect(page.locator('.cm-line').first()).toBeVisible()
  await tabTo(page, page.locator('[data-preset="everyNode"]'))
  await page.keyboard.press('Enter')
  const apply = page.getByTestId('apply')
  await expect(apply).toBeEnabled()
  // Esc, then Tab leaves the editor on the way.
  for (let i = 0; i < 60 && !(await apply.evaluate((element) => element === document.activeElement)); i++) {
    if (await page.evaluate(() => document.activeElement?.closest('.cm-editor') !== null))
      await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
  }
  await expect(apply).toBeFocused()
  await page.keyboard.press('Enter')
  await tabTo(page, dialog(page).getByRole('button', { name: /^Apply/ }))
  await page.keyboard.press('Enter')
  await expect(page.getByText(/Revision \d+ is running/).first()).toBeVisible()
  await expect(dialog(page)).toHaveCount(0)
})

test('an import runs, and the focus returns to the menu', async ({ page, simulator }) => {
  await fill(simulator)
  await page.goto(simulator.url)
  const menu = page.getByTestId('transfer').getByRole('button')
  await tabTo(page, menu)
  await page.keyboard.press('Enter')
  const entry = page.getByTestId('transfer').getByRole('menuitem').first()
  await expect(entry).toBeFocused()
  // The menu first asks the server what it serves.
  await expect(entry).toBeEnabled()
  await page.keyboard.press('Enter')
  await expect(dialog(page)).toBeVisible()
  await tabTo(page, dialog(page).getByRole('button', { name: 'Paste text' }))
  await page.keyboard.press('Enter')
  const text = dialog(page).getByRole('textbox', { name: 'Manifests as YAML or JSON' })
  await expect(text).toBeFocused()
  await page.keyboard.insertText(podYaml('imported'))
  await tabTo(page, dialog(page).getByRole('radio', { name: 'In a new workspace' }))
  await page.keyboard.press('ArrowDown')
  await expect(dialog(page).getByRole('radio', { name: 'Merge into this cluster' })).toBeChecked()
  await tabTo(page, dialog(page).getByTestId('import-start'))
  await page.keyboard.press('Enter')
  await expect(dialog(page)).toContainText('Imported 1 object')
  await page.keyboard.press('Escape')
  await expect(dialog(page)).toHaveCount(0)
  await expect(menu).toBeFocused()
})

test('the palette opens, runs a command, and gives the focus back', async ({ page, simulator }) => {
  await fill(simulator)
  await page.goto(simulator.url)
  const help = page.getByRole('button', { name: 'Keyboard shortcuts' })
  await tabTo(page, help)
  await page.keyboard.press('Control+k')
  await expect(page.getByTestId('palette').getByRole('combobox')).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(help).toBeFocused()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('web-1')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/web-1/)
})

test('what a fast typist types before the palette appears is not lost, nor is Enter', async ({ page, simulator }) => {
  await fill(simulator)
  let arrive = () => {}
  const arrived = new Promise<void>((done) => (arrive = done))
  await page.route(/\/assets\/shell-/, async (route) => {
    await arrived
    await route.continue()
  })
  await page.goto(simulator.url)
  await expect(page.getByRole('button', { name: 'Keyboard shortcuts' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('YAML of pod')
  await page.keyboard.press('Enter')
  await page.keyboard.type('web-1')
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('palette')).toHaveCount(0)
  arrive()
  await expect(page).toHaveURL(/web-1.*yaml=1/)
})

for (const [name, open] of Object.entries({
  palette: (page: Page) => page.keyboard.press('Control+k'),
  help: (page: Page) => page.keyboard.press('?'),
  create: (page: Page) => page.keyboard.press('c'),
})) {
  test(`Tab stays within the dialog, and Esc leaves it: ${name}`, async ({ page, simulator }) => {
    await fill(simulator)
    await page.goto(simulator.url)
    await expect(page.locator('[data-node="n1"]')).toBeVisible()
    await open(page)
    await expect(dialog(page)).toBeVisible()
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab')
      const outside = await page.evaluate(
        () => document.activeElement !== document.body && !document.activeElement?.closest('dialog[open]')
      )
      expect(outside).toBe(false)
    }
    // An editor takes the first Esc as leave to move on.
    await page.keyboard.press('Escape')
    if (await dialog(page).count()) await page.keyboard.press('Escape')
    await expect(dialog(page)).toHaveCount(0)
  })
}
