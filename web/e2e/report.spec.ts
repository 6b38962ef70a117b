// A decision, runs, or what became of a lesson as one file: it opens without a server or a network,
// and a simulator opens it, too.

import { readFileSync, writeFileSync } from 'node:fs'
import { objections } from './axe'
import { faults } from './boxes'
import { runSweep } from './scenarios'
import { expect, node, pod, refused, serverAway, test, type Simulator } from './simulator'
import type { Page } from '@playwright/test'

test.describe.configure({ mode: 'serial' })

/** Opens a file in a page of its own, and returns what it asked of any network. */
async function open(page: Page, path: string, shows = 'explanation'): Promise<string[]> {
  const requests: string[] = []
  page.on('request', (request) => !/^(file|data|blob):/.test(request.url()) && requests.push(request.url()))
  await page.goto(`file://${path}`)
  await expect(page.getByTestId(shows).first()).toBeVisible()
  return requests
}

/** Opens a file on the page of a simulator. */
async function openInSimulator(page: Page, simulator: Simulator, path: string): Promise<void> {
  await page.goto(`${simulator.url}/report`)
  await page.getByTestId('report-file').setInputFiles(path)
}

/** Saves what a button downloads. */
async function download(page: Page, click: () => Promise<void>, path: string): Promise<void> {
  const saved = page.waitForEvent('download')
  await click()
  await (await saved).saveAs(path)
}

/** Tries to run code in each way that a text of a result might. It sets window.ran if one works. */
const hostile =
  '</script><script>window.ran=1</script><img src=x onerror="window.ran=1"><svg ' +
  'onload="window.ran=1">{{constructor.constructor("window.ran=1")()}}'
const ran = (page: Page) => page.evaluate(() => (window as unknown as { ran?: number }).ran)

/** Runs a scenario, and returns its ID. */
async function run(simulator: Simulator, scenario: string, against?: string): Promise<string> {
  const { id } = await simulator.call<{ id: string }>('POST', '/api/v1/runs', { scenario, against })
  await expect(async () => {
    const { state } = await simulator.call<{ state: string }>('GET', `/api/v1/runs/${id}`)
    expect(state).toBe('ended')
  }).toPass()
  return id
}

test(
  'a decision is saved from its page, opens without a server, and explains its cells',
  { tag: '@main' },
  async ({ page, simulator }, info) => {
    for (const name of ['tainted', 'plain-1', 'plain-2'])
      await simulator.kube('POST', '/api/v1/nodes', node(name, { taint: name === 'tainted' }))
    await simulator.ready('tainted', 'plain-1', 'plain-2')
    for (const name of ['first', 'second']) await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name))
    await page.goto(`${simulator.url}/decisions/default/first`)
    const sentence = await page.getByTestId('explanation').innerText()
    const saved = page.waitForEvent('download')
    await page.getByTestId('download-report').getByRole('button').click()
    await page.getByRole('menuitem', { name: 'With its names' }).click()
    const path = info.outputPath('report.html')
    await (await saved).saveAs(path)

    const file = await page.context().newPage()
    const requests = await open(file, path)
    await expect(file.getByTestId('explanation')).toHaveText(sentence)
    await expect(file.getByText('The record is unchanged since its export')).toBeVisible()
    await file.locator('[data-node="tainted"]').getByRole('gridcell').nth(2).click()
    await expect(file.getByTestId('decision-side')).toContainText('Kubernetes documentation')
    await expect(file).toHaveURL(/#\/\?.*node=tainted/)
    // Names lead nowhere: there may be no cluster behind them.
    await expect(file.locator('main a[href^="/"], main a[href^="#/"]')).toHaveCount(0)
    expect(await objections(file)).toEqual([])
    await file.getByRole('button', { name: '日本語' }).click()
    await expect(file.getByText('このファイルはサーバーもネットワークも必要とせず')).toBeVisible()
    expect(requests).toEqual([])

    // The same file in a simulator.
    await page.goto(`${simulator.url}/report`)
    await page.getByTestId('report-file').setInputFiles(path)
    await expect(page.getByTestId('explanation')).toHaveText(sentence)
    await page.getByRole('button', { name: 'Close the report' }).click()
    await page
      .getByTestId('report-file')
      .setInputFiles({ name: 'notes.html', mimeType: 'text/html', buffer: Buffer.from('<p>hello</p>') })
    await expect(page.getByRole('alert')).toHaveText('notes.html is not a report.')
  }
)

test('two decisions are compared, and a changed file says so', async ({ page, simulator }, info) => {
  const { items } = await simulator.call<{ items: { pod: { uid: string; name: string }; attempt: number }[] }>(
    'GET',
    '/api/v1/results?namespace=default'
  )
  const uid = (name: string) => items.find((of) => of.pod.name === name)?.pod.uid ?? ''
  const path = info.outputPath('both.html')
  writeFileSync(
    path,
    await (await simulator.send('GET', `/api/v1/results/${uid('first')}/1?format=html&other=${uid('second')}/1`)).text()
  )
  await open(page, path)
  await expect(page.getByTestId('attempt-difference')).toContainText(
    'From A, first, attempt 1, to B, second, attempt 1'
  )
  await page
    .getByRole('radio', { name: 'B · second' })
    .or(page.getByRole('button', { name: 'B · second' }))
    .first()
    .click()
  await expect(page.getByTestId('explanation')).toContainText('second')

  const changed = info.outputPath('changed.html')
  writeFileSync(changed, readFileSync(path, 'utf8').replace(/data-sha256="\w{4}/, 'data-sha256="0000'))
  await open(page, changed)
  await expect(page.getByRole('alert')).toHaveText('The record was changed since its export. Do not trust it.')
})

const scenario = (say: string) => `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: small}
steps:
- create: {count: 2, template: {apiVersion: v1, kind: Node, metadata: {name: "node-\${i}"},
    status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}}
- create: {template: {apiVersion: v1, kind: Pod, metadata: {name: web},
    spec: {containers: [{name: main, image: pause, resources: {requests: {cpu: "8"}}}]}}}
- wait: settled
- expect:
  - that: pods.all(p, p.node != "")
    say: ${JSON.stringify(say)}
`

test('runs are a file that shows what their page shows, and a text in it runs nothing', async ({
  page,
  simulator,
}, info) => {
  const id = await run(simulator, scenario(hostile))
  await page.goto(`${simulator.url}/scenarios`)
  const path = info.outputPath('runs.html')
  writeFileSync(path, await (await simulator.send('GET', `/api/v1/runs/${id}?format=html`)).text())
  const file = await page.context().newPage()
  const requests = await open(file, path, 'run-headline')
  await expect(file.getByTestId('not-held')).toContainText(hostile)
  await expect(file.getByTestId('deciding')).toContainText('Insufficient cpu')
  // The scenario's text is not in the file, so its lines lead nowhere.
  await expect(file.locator('table.steps button')).toHaveCount(0)
  // The decision behind the failure is.
  await file.getByTestId('open-decision').click()
  await expect(file.getByTestId('filter-matrix')).toContainText('NodeResourcesFit')
  await file.getByTestId('back-to-run').click()
  expect(await objections(file)).toEqual([])
  expect(await ran(file)).toBeUndefined()
  expect(requests).toEqual([])

  await openInSimulator(page, simulator, path)
  await expect(page.getByTestId('run-headline')).toHaveText(await file.getByTestId('run-headline').innerText())
  await expect(page.getByTestId('not-held')).toContainText(hostile)
  expect(await ran(page)).toBeUndefined()
})

test('two configurations compared are a file', async ({ page, simulator }, info) => {
  const id = await run(simulator, scenario('each pod has a node'), 'default')
  const path = info.outputPath('comparison.html')
  writeFileSync(path, await (await simulator.send('GET', `/api/v1/runs/${id}?format=html`)).text())
  const file = await page.context().newPage()
  expect(await open(file, path, 'run-comparison')).toEqual([])
  const shown = await file.getByTestId('run-comparison').innerText()
  expect(await objections(file)).toEqual([])
  await openInSimulator(page, simulator, path)
  await expect(page.getByTestId('run-comparison')).toHaveText(shown, { useInnerText: true })
})

test('no script but its own runs in a file', async ({ page, simulator, allowed }, info) => {
  allowed.push(/Content Security Policy/)
  const id = await run(simulator, scenario('each pod has a node'))
  const path = info.outputPath('injected.html')
  const text = await (await simulator.send('GET', `/api/v1/runs/${id}?format=html`)).text()
  // As if the file had let the text out of its data.
  writeFileSync(
    path,
    text.replace('<div id="app">', `${hostile}</svg><a href="javascript:window.ran=1" id="link">link</a><div id="app">`)
  )
  const requests = await open(page, path, 'run-headline')
  await page.locator('#link').click()
  await expect(page.getByTestId('run-headline')).toBeVisible()
  expect(await ran(page)).toBeUndefined()
  const fetched = await page.evaluate(() =>
    fetch('https://example.com/').then(
      () => 'answered',
      () => 'refused'
    )
  )
  expect(fetched).toBe('refused')
  expect(requests).toEqual([])
})

test('a redacted decision is a file without names', async ({ page, simulator }, info) => {
  await page.goto(`${simulator.url}/decisions/default/first`)
  const path = info.outputPath('redacted.html')
  await download(
    page,
    async () => {
      await page.getByTestId('download-report').getByRole('button').click()
      await page.getByRole('menuitem', { name: 'Redacted' }).click()
    },
    path
  )
  const file = await page.context().newPage()
  await open(file, path)
  await expect(file.getByTestId('provenance')).toContainText('names are redacted')
  expect(await file.locator('body').innerText()).not.toMatch(/tainted|plain-1|plain-2|\bfirst\b/)
  await expect(file.getByTestId('filter-matrix').locator('[data-node]')).toHaveCount(3)
  const sentence = (await file.getByTestId('explanation').textContent()) ?? ''
  await openInSimulator(page, simulator, path)
  await expect(page.getByTestId('explanation')).toHaveText(sentence)
})

test('a sweep is a file with the runs of each point', async ({ page, simulator }, info) => {
  await runSweep(page, simulator)
  const path = info.outputPath('sweep.html')
  await download(page, () => page.getByTestId('download-report').click(), path)
  const file = await page.context().newPage()
  const requests = await open(file, path, 'multiples')
  await file.getByTestId('multiples').locator('.best').first().click()
  await expect(file.getByTestId('point').getByTestId('run-headline')).toBeVisible()
  expect(await objections(file)).toEqual([])
  expect(requests).toEqual([])
  await openInSimulator(page, simulator, path)
  await expect(page.getByTestId('ranked').locator('tbody tr')).toHaveCount(11)
})

test('an exercise is a file with the decision that graded it', async ({ page, simulator }, info) => {
  await page.goto(`${simulator.url}/learn/predict?plugin=TaintToleration&level=1&seed=4127`)
  await expect(page.getByTestId('predict-stage')).toBeVisible()
  await page.keyboard.press('1')
  await page.keyboard.press('w')
  await page.getByTestId('ask-scheduler').click()
  await expect(page.getByTestId('graded')).toBeVisible()
  const path = info.outputPath('exercise.html')
  await download(page, () => page.getByTestId('download-report').click(), path)
  const file = await page.context().newPage()
  const requests = await open(file, path, 'lesson-outcome')
  await expect(file.getByRole('heading', { level: 1 })).toContainText('TaintToleration, level 1, seed 4127')
  await expect(file.locator('tbody th[scope="row"]')).toHaveCount(4)
  await file.locator('[data-check="prediction"] button').click()
  await expect(file.getByTestId('verdict')).toContainText('TaintToleration')
  expect(await objections(file)).toEqual([])
  expect(requests).toEqual([])
  await openInSimulator(page, simulator, path)
  await expect(page.getByTestId('lesson-outcome')).toContainText('node-1')
})

test('what became of a lesson is a file', async ({ page, simulator, allowed }, info) => {
  // While the sandbox starts, it does not answer.
  allowed.push(refused(503), refused(404), serverAway)
  test.setTimeout(120_000)
  await page.goto(`${simulator.url}/learn/decides`)
  await page.getByTestId('enter-lesson').click()
  await page.waitForURL(/\/branches\/lesson-decides\//)
  const panel = page.getByTestId('lesson-panel')
  await expect(panel.getByTestId('step-title')).toBeVisible({ timeout: 60_000 })
  while (await panel.getByTestId('next-step').count()) await panel.getByTestId('next-step').click()
  const path = info.outputPath('lesson.html')
  await download(page, () => panel.getByTestId('download-report').click(), path)
  const file = await page.context().newPage()
  const requests = await open(file, path, 'lesson-outcome')
  await expect(file.getByTestId('lesson-outcome')).toContainText('Not answered')
  expect(await objections(file)).toEqual([])
  await file.getByRole('button', { name: '日本語' }).click()
  await expect(file.getByTestId('lesson-outcome')).toContainText('未回答です。')
  expect(requests).toEqual([])
  await openInSimulator(page, simulator, path)
  await expect(page.getByTestId('lesson-outcome').locator('li')).toHaveCount(
    await file.getByTestId('lesson-outcome').locator('li').count()
  )
  await page.goto(`${simulator.url}/branches/lesson-decides/`)
  await page.getByTestId('branch-leave').click()
  await page.waitForURL(`${simulator.url}/learn`)
})

for (const [theme, language] of [
  ['light', 'en'],
  ['dark', 'ja'],
] as const) {
  test(`files keep their boxes from 390 to 2560 pixels, in the ${theme} theme, in ${language}`, async ({
    page,
    simulator,
  }, info) => {
    test.setTimeout(120_000)
    const uid =
      (
        await simulator.call<{ items: { pod: { uid: string } }[] }>(
          'GET',
          '/api/v1/results?namespace=default&name=first'
        )
      ).items[0]?.pod.uid ?? ''
    const id = await run(simulator, scenario('each pod has a node'), 'default')
    const files = {
      decision: `results/${uid}/1?format=html`,
      comparison: `runs/${id}?format=html`,
      exercise: 'exercises/result?plugin=PodTopologySpread&level=3&seed=11&picked=node-1&crossedOut=node-2&format=html',
    }
    const found: string[] = []
    for (const [name, address] of Object.entries(files)) {
      const path = info.outputPath(`${name}.html`)
      writeFileSync(path, await (await simulator.send('GET', `/api/v1/${address}`)).text())
      await openInSimulator(page, simulator, path)
      await page.evaluate((kept) => Object.entries(kept).forEach(([key, value]) => localStorage.setItem(key, value)), {
        theme,
        language,
      })
      await openInSimulator(page, simulator, path)
      for (const [width, height] of [
        [390, 844],
        [768, 1024],
        [1180, 820],
        [1440, 900],
        [2560, 1440],
      ] as const) {
        await page.setViewportSize({ width, height })
        await expect(page.getByTestId('report')).toBeVisible()
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
        for (const line of await faults(page)) found.push(`${name}, ${width}: ${line}`)
      }
      for (const line of await objections(page)) found.push(`${name}: ${line}`)
    }
    expect(found).toEqual([])
  })
}
