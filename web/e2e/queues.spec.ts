// Queues: turning them on, the presets, the pending list with its reasons, suggestions, the ledger.

import { expect, test } from '@playwright/test'
import { Simulator } from './simulator'

let simulator: Simulator
test.beforeAll(async () => {
  simulator = await Simulator.start()
})
test.afterAll(() => simulator.stop())

test('a preset turns the queues on and shows a head that blocks its queue', { tag: '@main' }, async ({ page }) => {
  await page.goto(`${simulator.url}/batch/queues`)
  await expect(page.getByTestId('turn-on')).toBeVisible()
  await page.locator('[data-preset="strict"]').click()

  const pending = page.getByTestId('pending').locator('tbody tr')
  await expect(pending).toHaveCount(2, { timeout: 30_000 })
  await expect(pending.nth(0)).toContainText('job-head')
  await expect(pending.nth(0)).toContainText('3 more cpu needed in queues.')
  await expect(pending.nth(1)).toContainText('StrictFIFO: it waits behind job-head')
  await expect(page.getByTestId('running')).toContainText('job-running')
  await expect(page.getByTestId('ledger')).toContainText('Cycle 1')

  await pending.nth(0).getByRole('link').click()
  await expect(page).toHaveURL(/workload=default/)
  await page.getByTestId('suggest').click()
  await expect(page.getByTestId('suggestions')).toContainText('It would be admitted if')
})
