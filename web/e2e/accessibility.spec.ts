// axe reports no violation of WCAG 2.2 AA on any page and dialog, in either theme and language.

import { objections } from './axe'
import type { Page } from '@playwright/test'
import { runSweep, runToFail } from './scenarios'
import { expect, node, pod, test } from './simulator'

const places: Record<string, string> = {
  'cluster, cards': '/',
  'cluster, decision': '/?pod=default/web-1',
  'cluster, tiles': '/?pod=default/web-1&view=tiles',
  'cluster, table': '/?view=table',
  resources: '/resources/pods?select=default/web-1',
  nodes: '/resources/nodes',
  decisions: '/decisions',
  decision: '/decisions/default/web-1',
  'decision, score': '/decisions/default/web-1?node=node-a&plugin=NodeResourcesFit',
  'decision, extension point': '/decisions/default/web-1?stage=Filter',
  'decision, nowhere': '/decisions/default/too-big',
  'decision, gated': '/decisions/default/gated',
  'decision, asked again': '/decisions/default/too-big?view=asked',
  presentation: '/decisions/default/web-1/present',
  gangs: '/batch/gangs',
  quotas: '/batch/quotas',
  queues: '/batch/queues',
  'NUMA nodes': '/numa',
  autoscaling: '/autoscaling',
  drain: '/drain?nodes=node-a',
  upgrade: '/upgrade',
  rebalance: '/drain?view=rebalance',
  sessions: '/batch/sessions',
  flow: '/batch/sessions?view=flow',
  'configuration of sessions': '/batch/sessions?view=configuration',
  'room for more': '/capacity?pod=default/web-1',
  shadow: '/scheduler?view=shadow',
  scheduler: '/scheduler',
  'feature gates': '/scheduler?view=gates',
  revisions: '/scheduler?view=revisions',
  events: '/events',
  replay: '/replay',
  scenarios: '/scenarios',
  learn: '/learn',
  lesson: '/learn/filters',
  prediction: '/learn/predict?plugin=TaintToleration&level=2&seed=4127',
  'time line': '/timeline',
  'past moment': '/timeline?at=1',
  branches: '/timeline?view=branches',
  report: '/report',
  'nothing here': '/nowhere',
}
/** Opens each dialog on the map. */
const dialogs: Record<string, (page: Page) => Promise<unknown>> = {
  palette: (page) => page.keyboard.press('Control+k'),
  help: (page) => page.keyboard.press('?'),
  create: (page) => page.keyboard.press('c'),
  import: (page) => fromMenu(page, 0),
  export: (page) => fromMenu(page, 1),
  reset: (page) => fromMenu(page, 3),
}
async function fromMenu(page: Page, entry: number): Promise<void> {
  await page.getByTestId('transfer').getByRole('button').click()
  await page.getByTestId('transfer').getByRole('menuitem').nth(entry).click()
}

async function dryRun(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Dry run|ドライラン/ }).click()
  await expect(page.getByTestId('yaml-diff')).toContainText('restartPolicy')
}

// Each axe finding names its element, and a trace would double the time.
test.use({ trace: 'off' })

for (const [theme, language] of [
  ['light', 'en'],
  ['dark', 'en'],
  ['light', 'ja'],
] as const) {
  test(`no violation in the ${theme} theme, in ${language}`, async ({ page, simulator }) => {
    test.setTimeout(240_000)
    const { items } = await simulator.kube<{ items: object[] }>('GET', '/api/v1/nodes')
    if (!items.length) {
      for (const [i, zone] of ['a', 'b', 'c'].entries())
        await simulator.kube(
          'POST',
          '/api/v1/nodes',
          node(`node-${zone}`, { taint: i === 2, labels: { 'topology.kubernetes.io/zone': `zone-${zone}` } })
        )
      for (const name of ['web-1', 'web-2']) await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name))
      await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('too-big', '64'))
      await simulator.kube('POST', '/api/v1/namespaces/default/pods', {
        ...pod('gated'),
        spec: { ...pod('gated').spec, schedulingGates: [{ name: 'example.com/quota' }] },
      })
    }
    await page.addInitScript(
      ([t, l]) => {
        localStorage.setItem('theme', t)
        localStorage.setItem('language', l)
      },
      [theme, language] as const
    )
    const found: string[] = []
    const check = async (name: string, within?: string) => {
      // Themes differ only in colours: the light theme is checked against every rule.
      const rules = theme === 'light' ? {} : { rules: ['color-contrast'] }
      for (const line of await objections(page, { ...rules, ...(within ? { within } : {}) }))
        found.push(`${name}: ${line}`)
    }
    for (const [name, path] of Object.entries(places)) {
      await page.goto(simulator.url + path)
      if (name !== 'presentation') await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await expect(page.getByTestId('starting')).toHaveCount(0)
      await expect(page.getByText(/^(?:Loading|読み込み中)$/)).toHaveCount(0)
      if (path.includes('select='))
        await expect(page.getByTestId('object-detail').getByRole('textbox')).toContainText('kind: Pod')
      await check(name)
    }
    await page.goto(`${simulator.url}/scenarios`)
    await runToFail(page)
    await check('a failed run')
    await page.getByTestId('open-decision').last().click()
    await expect(page.getByTestId('filter-matrix').locator('[data-state]').first()).toBeVisible()
    await check('the decision behind a failure')
    await page.goto(`${simulator.url}/scenarios?against=default`)
    await page.getByTestId('run').click()
    await expect(page.getByTestId('run-comparison')).toBeVisible()
    await check('a comparison')
    await runSweep(page, simulator)
    await page.getByTestId('multiples').locator('.best').first().click()
    await expect(page.getByTestId('point').getByTestId('run-headline')).toBeVisible()
    await check('a sweep')
    await page.goto(simulator.url)
    for (const [name, open] of Object.entries(dialogs)) {
      await expect(page.locator('[data-node="node-a"]')).toBeVisible()
      await open(page)
      await expect(page.locator('dialog[open]')).toBeVisible()
      await check(name, 'dialog[open]')
      if (name === 'create') await dryRun(page)
      if (name === 'create') await check('dry run', 'dialog[open]')
      await page.keyboard.press('Escape')
      await expect(page.locator('dialog[open]')).toHaveCount(0)
    }
    expect(found).toEqual([])
  })
}
