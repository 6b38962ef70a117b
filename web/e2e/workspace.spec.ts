// Workspaces: the list in the header, and what can be done with one.

import { objections } from './axe'
import { faults } from './boxes'
import { expect, inWorkspace, node, test, workspaceErrors } from './simulator'

test.describe.configure({ mode: 'serial' })
test.beforeEach(({ allowed }) => {
  test.setTimeout(150_000)
  allowed.push(...workspaceErrors)
})

interface Branch {
  name: string
  title?: string
  state: string
}

test(
  'a new workspace is a world of its own, sleeps, wakes, and becomes the main one',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await simulator.kube('POST', '/api/v1/nodes', node('mine'))
    await page.goto(simulator.url)
    const switcher = page.getByTestId('workspace-switcher')
    await expect(switcher).toContainText('My cluster')
    await switcher.click()
    await page.getByTestId('workspace-new').click()
    await page.getByTestId('workspace-title').fill('Bench: two nodes')
    await page.getByText('Nothing', { exact: true }).click()
    await page.getByTestId('workspace-create').click()

    const bench = await inWorkspace(page)
    expect(bench.url).toBe(`${simulator.url}/branches/bench-two-nodes`)
    await expect(page.getByTestId('branch-band')).toContainText('Bench: two nodes')
    await bench.kube('POST', '/api/v1/nodes', node('theirs'))
    await expect(page.locator('[data-node="theirs"]')).toBeVisible({ timeout: 30_000 })
    await expect(page.locator('[data-node="mine"]')).toHaveCount(0)

    // By keyboard to the main one: the list opens on the workspace that the page shows.
    await switcher.press('Enter')
    const list = page.getByTestId('workspaces')
    const rowOf = (name: string) => list.locator(`[data-branch="${name}"]`)
    await expect(rowOf('bench-two-nodes').getByRole('link')).toBeFocused()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(`${simulator.url}/`)
    await expect(page.locator('[data-node="mine"]')).toBeVisible()

    await switcher.click()
    await expect(rowOf('bench-two-nodes')).toContainText('running')
    const choose = async (action: string) => {
      await rowOf('bench-two-nodes').getByRole('button').click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await choose('Rename…')
    await page.getByTestId('workspace-title').fill('Bench')
    await page.getByTestId('workspace-retitle').click()
    await expect(rowOf('bench-two-nodes').locator('b')).toHaveText('Bench')
    await choose('Put to sleep')
    await expect(rowOf('bench-two-nodes')).toContainText('asleep', { timeout: 20_000 })
    await rowOf('bench-two-nodes').getByRole('link').click()
    await inWorkspace(page)
    await expect(page.locator('[data-node="theirs"]')).toBeVisible({ timeout: 30_000 })

    await switcher.click()
    await choose('Make it the main one…')
    await page.getByTestId('workspace-promote').click()
    await expect(page).toHaveURL(`${simulator.url}/`, { timeout: 60_000 })
    await expect(page.locator('[data-node="theirs"]')).toBeVisible({ timeout: 30_000 })
    await expect(page.locator('[data-node="mine"]')).toHaveCount(0)
    const { items } = await simulator.call<{ items: Branch[] }>('GET', '/api/v1/branches')
    expect(items.map(({ title }) => title?.replace(/[\d:]+$/, 'TIME'))).toEqual(['Bench', 'My cluster, until TIME'])
    expect(items[1]?.state).toBe('stopped')
  }
)

test('the list violates no rule of accessibility, and no box is at fault', async ({ page, simulator }) => {
  const found: string[] = []
  for (const [theme, language] of [
    ['light', 'en'],
    ['dark', 'ja'],
  ] as const) {
    await page.goto(simulator.url)
    await page.evaluate(([t, l]) => (localStorage.setItem('theme', t), localStorage.setItem('language', l)), [
      theme,
      language,
    ] as const)
    for (const [width, height] of [
      [390, 844],
      [1440, 900],
    ] as const) {
      await page.setViewportSize({ width, height })
      await page.goto(simulator.url)
      await page.getByTestId('workspace-switcher').click()
      await expect(page.getByTestId('workspaces').locator('[data-branch]')).toHaveCount(2)
      for (const line of [...(await objections(page)), ...(await faults(page))])
        found.push(`${width}, ${theme}, ${language}: ${line}`)
      await page.keyboard.press('Escape')
      await expect(page.getByTestId('workspaces')).toHaveCount(0)
      await expect(page.getByTestId('workspace-switcher')).toBeFocused()
    }
  }
  expect(found).toEqual([])
})
