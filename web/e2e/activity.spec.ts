// The feed of cycles, its filters and its pause; rates, queues, events.

import { expect, node, pod, test } from './simulator'

test.describe.configure({ mode: 'serial' })

test('an empty feed teaches the next step', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/activity`)
  await expect(page.getByText('No decisions yet')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Create pod' })).toBeVisible()
})

test('cycles appear as they end, and are filtered in the address', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/activity`)
  for (const name of ['n1', 'n2']) await simulator.kube('POST', '/api/v1/nodes', node(name))
  await simulator.kube('POST', '/api/v1/namespaces', { metadata: { name: 'other' } })
  for (const name of ['a', 'b', 'c']) await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name))
  await simulator.kube('POST', '/api/v1/namespaces/other/pods', { ...pod('d'), metadata: { name: 'd' } })
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('big', '64'))
  const rows = page.getByTestId('feed').locator('[data-outcome]')
  await expect(rows).toHaveCount(5)
  await expect(page.locator('[data-outcome="unschedulable"]')).toContainText('Insufficient cpu on 2')
  await page.getByRole('button', { name: 'unschedulable 1' }).click()
  await expect(rows).toHaveCount(1)
  await page.getByRole('button', { name: /^All/ }).click()
  await page.getByRole('combobox', { name: 'Namespace' }).selectOption('other')
  await expect(rows).toHaveCount(1)
  await expect(page).toHaveURL(/namespace=other/)
  await page.reload()
  await expect(rows).toHaveCount(1)
  await page.getByTestId('feed').focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/decisions\/other\/d/)
})

test('the feed is held, counts what comes, and goes on', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/activity`)
  const rows = page.getByTestId('feed').locator('[data-outcome]')
  await expect(rows).toHaveCount(5)
  await page.keyboard.press('p')
  await expect(page.getByTestId('pause')).toContainText('Resume')
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('later'))
  await expect(page.getByTestId('pause')).toContainText('1 new')
  await expect(rows).toHaveCount(5)
  await page.getByTestId('pause').click()
  await expect(rows).toHaveCount(6)
  await expect(rows.first()).toContainText('later')
})

test('rates, queues and events are told', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/activity`)
  await expect(page.getByTestId('queues').getByRole('listitem').filter({ hasText: 'unschedulable' })).toContainText('1')
  await expect(page.getByRole('group', { name: /pending/ })).toContainText('1')
  await page.getByRole('button', { name: 'Events' }).click()
  await expect(page).toHaveURL(/feed=events/)
  await expect(page.getByRole('grid', { name: 'Events' })).toContainText('FailedScheduling')
  await page.getByPlaceholder('Filter events').fill('pod later scheduled')
  await expect(page.getByRole('grid', { name: 'Events' }).locator('[data-key]')).toHaveCount(1)
})
