// The map: the sample cluster, a decision on it, its layout in the URL, and its tiles.

import { expect, node, pod, test } from './simulator'

test.describe.configure({ mode: 'serial' })

test('an empty cluster offers a sample', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await page.getByRole('button', { name: 'Create a sample cluster' }).click()
  await expect(page.locator('[data-node]')).toHaveCount(12)
  // The page creates the objects one after the other, the pending pods last.
  await expect(page.locator('[data-pod="sample/report-1"]')).toBeVisible()
})

test('each pending pod shows its reason, and the list can be sorted', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await expect(page.locator('[data-pod="sample/search-1"]')).toContainText('Insufficient cpu, on 9 of 12')
  await expect(page.locator('[data-pod="sample/report-1"]')).toContainText('waiting for example.com/quota')
  await page.getByRole('combobox', { name: 'Sort pending pods' }).selectOption('newest')
  await expect(page).toHaveURL(/pending=newest/)
})

test('choosing a pod shows its decision on the map', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await page.locator('[data-node] .pod', { hasText: 'web-2' }).click()
  await expect(page).toHaveURL(/pod=sample\/web-2|pod=sample%2Fweb-2/)
  const verdict = (node: string) => page.locator(`[data-node="${node}"]`)
  await expect(verdict('node-a4')).toContainText('TaintToleration')
  await expect(verdict('node-c2')).toContainText('NodeAffinity')
  await expect(page.locator('[data-node]', { hasText: 'chosen' })).toHaveCount(1)
  await page.keyboard.press('Escape')
  await expect(page).not.toHaveURL(/pod=/)
})

test('the URL keeps filter, order, grouping and view', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await page.getByPlaceholder('Filter nodes by name').fill('pool=gpu')
  await expect(page.locator('[data-node]')).toHaveCount(2)
  await page.getByRole('combobox', { name: 'Group' }).selectOption('pool')
  await page.getByRole('combobox', { name: 'Sort', exact: true }).selectOption('cpu')
  await page.getByRole('button', { name: 'Table' }).click()
  await expect(page).toHaveURL(/q=pool/)
  await page.reload()
  await expect(page.getByRole('table', { name: 'Nodes' }).locator('[data-node]')).toHaveCount(2)
  await expect(page.getByRole('combobox', { name: 'Group' })).toHaveValue('pool')
  await expect(page.getByRole('combobox', { name: 'Sort', exact: true })).toHaveValue('cpu')
})

test('tiles can be reached, read and opened by keyboard, and filtered by verdict', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/?view=tiles&pod=sample/web-2`)
  const tiles = page.getByTestId('tiles')
  await expect(tiles).toHaveAttribute('data-count', '12')
  await expect(page.getByTestId('legend')).toContainText('TaintToleration')
  const active = tiles.getByRole('option')
  await tiles.focus()
  await page.keyboard.press('Home')
  await expect(active).toContainText('chosen, Rank 1')
  await page.keyboard.press('n')
  await expect(active).toContainText(/Rank \d/)
  await page.keyboard.press('End')
  await expect(active).toContainText('rejected: TaintToleration')
  await page.keyboard.press('1')
  await expect(page).toHaveURL(/show=by/)
  await page
    .getByTestId('legend')
    .getByRole('button', { name: /^Feasible/ })
    .click()
  await expect(page).toHaveURL(/show=feasible/)
  await tiles.focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/resources\/nodes\?select=node-/)
})

test('the map shows the cluster at the time of a decision, or now', async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/nodes', node('moment', { labels: { only: 'moment' } }))
  await simulator.ready('moment')
  const here = (name: string) => ({
    ...pod(name, '2'),
    spec: { ...pod(name, '2').spec, nodeSelector: { only: 'moment' } },
  })
  const placed = (name: string) =>
    expect(async () =>
      expect(
        (await simulator.kube<{ spec: { nodeName?: string } }>('GET', `/api/v1/namespaces/default/pods/${name}`)).spec
          .nodeName
      ).toBe('moment')
    ).toPass()
  for (const name of ['earlier', 'decided', 'later']) {
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', here(name))
    await placed(name)
  }
  await page.goto(`${simulator.url}/?pod=default/decided&q=moment`)
  const card = page.locator('[data-node="moment"]')
  // Of the three pods, the scheduler's snapshot held one; the bar adds the request of the decided pod.
  await expect(card.locator('.pod')).toHaveText(['decided', 'earlier'])
  await expect(card).toContainText('2 / 8')
  await page.getByTestId('decision-bar').getByRole('button', { name: 'Now', exact: true }).click()
  await expect(page).toHaveURL(/at=now/)
  await expect(card.locator('.pod')).toHaveText(['decided', 'earlier', 'later'])
  await expect(card).toContainText('6 / 8')
})
