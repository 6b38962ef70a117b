// The feed of cycles with its filters and pause; rates, queues and events.

import { expect, node, pod, test } from './simulator'

test.describe.configure({ mode: 'serial' })

test('an empty feed teaches the next step', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/activity`)
  await expect(page.getByText('No decisions yet')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Create pod' })).toBeVisible()
})

test('cycles appear as they end, and the URL keeps the filters', { tag: '@main' }, async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/activity`)
  for (const name of ['n1', 'n2']) await simulator.kube('POST', '/api/v1/nodes', node(name))
  await simulator.kube('POST', '/api/v1/namespaces', { metadata: { name: 'other' } })
  for (const name of ['a', 'b', 'c']) await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name))
  await simulator.kube('POST', '/api/v1/namespaces/other/pods', { ...pod('d'), metadata: { name: 'd' } })
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('big', '64'))
  const rows = page.getByTestId('feed').locator('[data-outcome]')
  await expect(rows).toHaveCount(5)
  await expect(page.locator('[data-outcome="unschedulable"]')).toContainText('NodeResourcesFit Insufficient cpu on 2')
  await page.getByRole('button', { name: 'unschedulable 1' }).click()
  await expect(rows).toHaveCount(1)
  await page.getByPlaceholder('Filter by pod, node, plugin or message').fill('taint')
  await expect(rows).toHaveCount(0)
  await page.getByPlaceholder('Filter by pod, node, plugin or message').fill('resourcesfit')
  await expect(rows).toHaveCount(1)
  await page.getByPlaceholder('Filter by pod, node, plugin or message').fill('')
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

test('a paused feed counts new cycles and shows them when resumed', async ({ page, simulator }) => {
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

test('rates, queues and events are shown', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/activity`)
  await expect(page.getByTestId('queues').getByRole('listitem').filter({ hasText: 'unschedulable' })).toContainText('1')
  await expect(page.getByTestId('queues').locator('[data-lane="waiting"]')).toContainText('Permit')
  await expect(page.getByRole('group', { name: /pending/ })).toContainText('1')
  await page.getByRole('button', { name: 'Events' }).click()
  await expect(page).toHaveURL(/feed=events/)
  await expect(page.getByRole('grid', { name: 'Events' })).toContainText('FailedScheduling')
  await page.getByPlaceholder('Filter events').fill('pod later scheduled')
  await expect(page.getByRole('grid', { name: 'Events' }).locator('[data-key]')).toHaveCount(1)
})

test('the charts and the feed show what happened before the page was opened, in a range of time', async ({
  page,
  simulator,
}) => {
  await page.goto(`${simulator.url}/activity`)
  const rows = page.getByTestId('feed').locator('[data-outcome]')
  await expect(rows.first()).toContainText('later')
  const chart = page.getByRole('group', { name: /bound\/s/ })
  await expect(chart).toContainText(/mean 0\.\d+, peak (?!0(?!\.))/) // on a slow machine less than one a second
  const all = await rows.count()
  await page.getByRole('combobox', { name: 'Time range' }).selectOption('Last 15 minutes')
  await expect(page).toHaveURL(/last=15m/)
  await expect(rows).toHaveCount(all)
  await expect(
    page.getByRole('group', { name: 'Attempts by outcome' }).getByRole('button', { name: /^All/ })
  ).toContainText(String(all))
  await page.goto(`${simulator.url}/activity?until=2020-01-01T00:00:00Z`)
  await expect(page.getByText('No attempts in this time range')).toBeVisible()
  await page.getByRole('button', { name: 'Live', exact: true }).click()
  await expect(rows).toHaveCount(all)
})

test('attempts and pods that are unschedulable have names and numbers of their own', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/activity`)
  const attempts = page.getByRole('group', { name: 'Attempts by outcome' })
  const lane = page.getByTestId('queues').locator('[data-lane="unschedulable"]')
  await expect(attempts).toContainText('Attempts:')
  await expect(attempts.getByRole('button', { name: 'unschedulable 1' })).toBeVisible()
  await expect(lane).toContainText(/unschedulable pods.*1/)
  // A second attempt of the same pod, which is still too big.
  const { metadata } = await simulator.kube<{ metadata: { uid: string } }>('GET', '/api/v1/namespaces/default/pods/big')
  const tried = await simulator.send('POST', `/api/v1/results/${metadata.uid}/try`)
  expect(tried.status).toBe(204)
  await expect(attempts.getByRole('button', { name: 'unschedulable 2' })).toBeVisible()
  await expect(lane).toContainText(/unschedulable pods.*1/)
})

test('on a phone a long name keeps its end, which tells pods of a workload apart', async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('checkout-frontend-68d8db6bf-wl4qv'))
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${simulator.url}/activity`)
  const cell = page.getByTestId('feed').locator('.pod-c', { hasText: 'wl4qv' })
  const end = cell.getByText('-wl4qv')
  await expect(end).toBeInViewport()
  // An ellipsis in place of the name would leave it in the document, outside the cell.
  const [outer, inner] = await Promise.all([cell.boundingBox(), end.boundingBox()])
  expect((inner?.x ?? Infinity) + (inner?.width ?? 0)).toBeLessThanOrEqual((outer?.x ?? 0) + (outer?.width ?? 0) + 0.5)
})

test('a reset starts the counters of the queue over', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/activity`)
  const queues = page.getByTestId('queues')
  await expect(queues).toContainText('UnscheduledPodAdd')
  const response = await simulator.send('PUT', '/api/v1/reset')
  expect(response.status).toBe(200)
  await expect(queues).not.toContainText('UnscheduledPodAdd')
  await expect(page.getByText('No decisions yet')).toBeVisible()
})
