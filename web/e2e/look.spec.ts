// Pictures of every place in both themes, kept beside the test results for looking at.

import { createUrgent, expect, node, pod, test, type Simulator } from './simulator'

async function fill(simulator: Simulator) {
  for (const zone of ['a', 'b', 'c']) {
    for (const n of [1, 2, 3]) {
      await simulator.kube('POST', '/api/v1/nodes', node(`node-${zone}${n}`, { taint: n === 3, labels: { 'topology.kubernetes.io/zone': `zone-${zone}` } }))
    }
  }
  for (let i = 1; i <= 12; i++) await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(`web-${i}`, i % 3 ? '500m' : '2'))
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('too-big', '64'))
  await createUrgent(simulator, 'urgent', '8')
  // Nothing is known about its readiness, and it is cordoned.
  const quiet = node('node-d1')
  await simulator.kube('POST', '/api/v1/nodes', { ...quiet, spec: { unschedulable: true }, status: { ...quiet.status, conditions: [] } })
}

const places = {
  cluster: '/',
  'cluster-decision': '/?pod=default/web-12',
  decision: '/decisions/default/web-12',
  unschedulable: '/decisions/default/too-big',
  preemption: '/decisions/default/urgent?attempt=1',
  requeued: '/decisions/default/urgent',
  decisions: '/decisions',
  nodes: '/resources/nodes',
  resources: '/resources/pods?select=default/web-12',
  scheduler: '/scheduler',
  tiles: '/?pod=default/web-12&view=tiles',
  activity: '/activity',
  events: '/activity?feed=events',
}

test('pictures', async ({ browser, simulator }) => {
  test.setTimeout(240_000)
  await fill(simulator)
  for (const [theme, language, width, height] of [
    ['light', 'en', 1440, 900],
    ['dark', 'en', 1440, 900],
    ['light', 'ja', 1280, 800],
    ['light', 'en', 2560, 1440],
    ['dark', 'en', 390, 844],
  ] as const) {
    const context = await browser.newContext({ viewport: { width, height } })
    await context.addInitScript(
      ([t, l]) => {
        localStorage.setItem('theme', t)
        localStorage.setItem('language', l)
      },
      [theme, language] as const,
    )
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    for (const [name, path] of Object.entries(places)) {
      await page.goto(simulator.url + path)
      await expect(page.getByTestId('starting')).toHaveCount(0)
      await page.waitForLoadState('networkidle')
      await expect(page.locator('html')).toHaveAttribute('data-theme', theme)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      expect(overflow, `${name} at ${width} is wider than the window`).toBeLessThanOrEqual(0)
      await page.screenshot({ path: `test-results/look/${name}-${width}-${theme}-${language}.png` })
    }
    expect(errors).toEqual([])
    await context.close()
  }
})

test('theme and language are kept', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await page.getByRole('button', { name: '日本語' }).click()
  await expect(page.getByRole('link', { name: 'リソース' })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('link', { name: 'リソース' })).toBeVisible()
  await expect(page.locator('html')).toHaveAttribute('lang', 'ja')
})
