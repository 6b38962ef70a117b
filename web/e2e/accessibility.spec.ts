// axe reports no violation on any page, in either theme.

import { objections } from './axe'
import type { Page } from '@playwright/test'
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
  'decision, nowhere': '/decisions/default/too-big',
  scheduler: '/scheduler',
  activity: '/activity',
  events: '/activity?feed=events',
  replay: '/replay',
  'nothing here': '/nowhere',
}
const dialogs: Record<string, string> = { palette: 'Control+k', help: '?', create: 'c' }

async function dryRun(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Dry run' }).click()
  await expect(page.getByTestId('yaml-diff')).toContainText('restartPolicy')
}

// Each axe finding names its element, and a trace would double the time.
test.use({ trace: 'off' })

for (const theme of ['light', 'dark']) {
  test(`no violation in the ${theme} theme`, { tag: '@main' }, async ({ page, simulator }) => {
    test.setTimeout(150_000)
    if (theme === 'light') {
      for (const [i, zone] of ['a', 'b', 'c'].entries()) await simulator.kube('POST', '/api/v1/nodes', node(`node-${zone}`, { taint: i === 2, labels: { 'topology.kubernetes.io/zone': `zone-${zone}` } }))
      for (const name of ['web-1', 'web-2']) await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name))
      await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('too-big', '64'))
    }
    await page.addInitScript((value) => localStorage.setItem('theme', value), theme)
    const found: string[] = []
    const check = async (name: string, within?: string) => {
      // Themes differ only in colours: the light theme is checked against every rule.
      const rules = theme === 'light' ? {} : { rules: ['color-contrast'] }
      for (const line of await objections(page, { ...rules, ...(within ? { within } : {}) })) found.push(`${name}: ${line}`)
    }
    for (const [name, path] of Object.entries(places)) {
      await page.goto(simulator.url + path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await expect(page.getByTestId('starting')).toHaveCount(0)
      await expect(page.getByText('Loading', { exact: true })).toHaveCount(0)
      if (path.includes('select=')) await expect(page.getByTestId('object-detail').getByRole('textbox')).toContainText('kind: Pod')
      await check(name)
    }
    await page.goto(simulator.url)
    for (const [name, key] of Object.entries(dialogs)) {
      await expect(page.locator('[data-node="node-a"]')).toBeVisible()
      await page.keyboard.press(key)
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
