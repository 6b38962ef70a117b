// Screenshots of every page in both themes, kept with the test results for review.

import { choose } from './actions'
import { createUrgent, expect, node, pod, test, type Simulator } from './simulator'

async function fill(simulator: Simulator) {
  for (const zone of ['a', 'b', 'c']) {
    for (const n of [1, 2, 3]) {
      await simulator.kube(
        'POST',
        '/api/v1/nodes',
        node(`node-${zone}${n}`, { taint: n === 3, labels: { 'topology.kubernetes.io/zone': `zone-${zone}` } })
      )
    }
  }
  await simulator.ready('node-a1', 'node-b1', 'node-c1', 'node-a2', 'node-b2', 'node-c2')
  for (let i = 1; i <= 12; i++)
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(`web-${i}`, i % 3 ? '500m' : '2'))
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('too-big', '64'))
  await createUrgent(simulator, 'urgent', '8')
  // This node reports no readiness, and it is cordoned.
  const quiet = node('node-d1')
  await simulator.kube('POST', '/api/v1/nodes', {
    ...quiet,
    spec: { unschedulable: true },
    status: { ...quiet.status, conditions: [] },
  })
}

/** The path of each page, and an element that is visible once the page is drawn. */
const places: Record<string, readonly [path: string, shown: string]> = {
  cluster: ['/', '[data-node="node-a1"]'],
  'cluster-decision': ['/?pod=default/web-12', '[data-testid="decision-bar"]'],
  decision: ['/decisions/default/web-12', '[data-testid="filter-matrix"] [data-state]'],
  unschedulable: ['/decisions/default/too-big', '[data-testid="filter-matrix"] [data-state]'],
  preemption: ['/decisions/default/urgent?attempt=1', '[data-testid="preemption"]'],
  requeued: ['/decisions/default/urgent', '[data-testid="queue-facts"]'],
  decisions: ['/decisions', '[data-key]'],
  nodes: ['/resources/nodes', '[data-key="node-a1"]'],
  resources: ['/resources/pods?select=default/web-12', '[data-testid="object-detail"] .cm-line'],
  scheduler: ['/scheduler', '.cm-line'],
  tiles: ['/?pod=default/web-12&view=tiles', '[data-testid="tiles"]'],
  why: ['/why', '[data-pod]'],
  'what-if': ['/what-if', 'section'],
  glossary: ['/learn/glossary', '[data-term]'],
  events: ['/events', '[role="row"]'],
}

// The screenshots are the record.
test.use({ trace: 'off' })

test('pictures', async ({ browser, simulator }, info) => {
  test.setTimeout(240_000)
  await fill(simulator)
  const [phone, small, usual, large] = [
    { width: 390, height: 844 },
    { width: 1280, height: 800 },
    { width: 1440, height: 900 },
    { width: 2560, height: 1440 },
  ]
  for (const [theme, language, sizes] of [
    ['light', 'en', [usual, large]],
    ['dark', 'en', [usual, phone]],
    ['light', 'ja', [small]],
  ] as const) {
    const context = await browser.newContext({ viewport: sizes[0] })
    await context.addInitScript(
      ([t, l]) => {
        localStorage.setItem('theme', t)
        localStorage.setItem('language', l)
      },
      [theme, language] as const
    )
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    for (const [name, [path, shown]] of Object.entries(places)) {
      await page.goto(simulator.url + path)
      await expect(page.getByTestId('starting')).toHaveCount(0)
      await expect(page.locator(shown).first()).toBeVisible()
      await expect(page.locator('html')).toHaveAttribute('data-theme', theme)
      for (const size of sizes) {
        await page.setViewportSize(size)
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
        expect(overflow, `${name} at ${size.width} is wider than the window`).toBeLessThanOrEqual(0)
        await page.screenshot({ path: `${info.project.outputDir}/look/${name}-${size.width}-${theme}-${language}.png` })
      }
      await page.setViewportSize(sizes[0])
    }
    expect(errors).toEqual([])
    await context.close()
  }
})

test('no page scrolls beside its own lists, also after a drain and many decisions', async ({ page, simulator }) => {
  test.setTimeout(240_000)
  const { items } = await simulator.kube<{ items: object[] }>('GET', '/api/v1/nodes')
  if (!items.length) await fill(simulator)
  for (let i = 0; i < 40; i++)
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(`replica-of-web-${i}`, '10m'))
  await page.goto(simulator.url)
  await page.locator('[data-node="node-a1"]').click({ button: 'right', position: { x: 6, y: 6 } })
  await choose(page, 'drain')
  await page.getByTestId('change-apply').click()
  await expect(page.locator('[data-notice]')).toContainText('node-a1')
  for (const language of ['en', 'ja']) {
    await page.evaluate((value) => localStorage.setItem('language', value), language)
    for (const path of [
      ...Object.values(places).map(([path]) => path),
      '/learn',
      '/timeline',
      '/scenarios',
      '/batch/gangs',
    ]) {
      await page.goto(simulator.url + path)
      await expect(page.locator('main > :not(.fixed)').first()).toBeVisible()
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 844 })
        const [height, inner] = await page.evaluate(() => [document.documentElement.scrollHeight, window.innerHeight])
        expect(height, `${path} at ${width}, ${language}`).toBe(inner)
      }
    }
  }
})

test('text stays within its card, however narrow', async ({ page, simulator }) => {
  await page.setViewportSize({ width: 1280, height: 800 })
  for (const view of ['/', '/?pod=default/web-12']) {
    await page.goto(simulator.url + view)
    await expect(page.locator('[data-node="node-a1"]')).toBeVisible()
    const outside = await page
      .locator('[data-node] .meter .h > span')
      .evaluateAll((all) =>
        all
          .filter(
            (e) => e.getBoundingClientRect().right > (e.closest('.meter')?.getBoundingClientRect().right ?? 0) + 1
          )
          .map((e) => e.textContent)
      )
    expect(outside).toEqual([])
  }
})

test('on a phone, the places stand on one line', async ({ page, simulator }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(simulator.url)
  const places = page.locator('.nav a.it')
  await expect(places.first()).toBeVisible()
  const tops = await places.evaluateAll((all) => all.map((place) => place.getBoundingClientRect().top))
  expect(new Set(tops).size, `tops ${tops.join(', ')}`).toBe(1)
})

test('the hypothetical band is as tall as its content', async ({ page, simulator }) => {
  await page.setViewportSize({ width: 1000, height: 320 })
  await simulator.kube('POST', '/api/v1/nodes', node('spare'))
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('copied', '100m'))
  await page.goto(`${simulator.url}/capacity?pod=default/copied`)
  const band = page.getByTestId('hypothetical-bar')
  await expect(band).toContainText('No pod is created')
  expect(await band.evaluate((e) => e.scrollHeight - e.clientHeight)).toBe(0)
})

test('the tabs of the configuration stay within their column', async ({ page, simulator }) => {
  await page.setViewportSize({ width: 1100, height: 700 })
  for (const language of ['EN', '日本語']) {
    await page.goto(`${simulator.url}/scheduler`)
    await page.getByRole('button', { name: language, exact: true }).click()
    const column = await page.locator('.tabbar').boundingBox()
    for (const tab of await page.locator('[role="tab"][id^="conf-"]').all()) {
      const box = await tab.boundingBox()
      expect((box?.x ?? Infinity) + (box?.width ?? 0), `${await tab.textContent()} ends`).toBeLessThanOrEqual(
        (column?.x ?? 0) + (column?.width ?? 0)
      )
    }
    const said = page.getByTestId('hypothetical-bar').getByRole('status')
    expect((await said.boundingBox())?.height, 'the band has room for its text').toBeLessThanOrEqual(36)
  }
})

test('the language survives a reload', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await page.getByRole('button', { name: '日本語' }).click()
  await expect(page.getByRole('link', { name: 'リソース' })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('link', { name: 'リソース' })).toBeVisible()
  await expect(page.locator('html')).toHaveAttribute('lang', 'ja')
})
