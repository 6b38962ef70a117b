// The tour: from an empty cluster to reading a preemption, by doing and by Next, across reloads.

import { objections } from './axe'
import { expect, refused, test } from './simulator'
import type { Page } from '@playwright/test'

test.describe.configure({ mode: 'serial' })
test.use({ tour: true })

const tour = (page: Page) => page.getByTestId('tour')
const at = (page: Page, step: string) => expect(tour(page)).toHaveAttribute('data-step', step)
const press = (page: Page, name: string) => tour(page).getByRole('button', { name, exact: true }).click()

test(
  'it leads a first visit from the sample to a preemption, and survives reloads',
  { tag: '@main' },
  async ({ page, simulator, allowed }) => {
    test.setTimeout(90_000)
    // The server sees the new class only after a moment, and the tour tries again.
    allowed.push(refused(403))
    await page.goto(simulator.url)
    await at(page, 'sample')
    await expect(tour(page)).toContainText('Step 1 of 8')
    await expect(tour(page).getByRole('button', { name: 'Next' })).toBeDisabled()
    await page.getByRole('button', { name: 'Create a sample cluster' }).click()
    await expect(page.locator('[data-node]')).toHaveCount(12)
    await at(page, 'pod')

    // Doing what a step asks for completes it.
    await page.locator('[data-node] .pod', { hasText: 'web-1' }).click()
    await at(page, 'decision')
    await page.getByRole('link', { name: 'Open decision' }).click()
    await expect(page).toHaveURL(/\/decisions\/sample\/web-1/)
    await at(page, 'filter')
    await expect(page.locator('#filter.tour-target')).toBeVisible()
    await page.reload()
    await at(page, 'filter')
    await expect(page.locator('#filter.tour-target')).toBeVisible()

    await press(page, 'Next')
    await at(page, 'score')
    await press(page, 'Back')
    await at(page, 'filter')
    await press(page, 'Next')
    await press(page, 'Next')
    await at(page, 'preempt')
    await expect(tour(page).getByRole('button', { name: 'Next' })).toBeDisabled()
    await press(page, 'Create a full node and an urgent pod')
    // A new class, a new node and an attempt that fails take their time.
    await expect(tour(page)).toHaveAttribute('data-step', 'preemption', { timeout: 30_000 })
    await expect(page).toHaveURL(/\/decisions\/default\/full-1-urgent/)
    await expect(page.locator('#preemption.tour-target')).toBeVisible()
    expect(await objections(page, { within: '[data-testid="tour"]' })).toEqual([])
    await press(page, 'Next')
    await at(page, 'more')
    await press(page, 'Finish')
    await expect(tour(page)).toBeHidden()
    await page.reload()
    await expect(page.getByTestId('explanation')).toBeVisible()
    await expect(tour(page)).toBeHidden()
  }
)

test('it starts on a filled cluster, and Next leads all the way', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await at(page, 'pod')
  await expect(tour(page)).toBeVisible()
  // The sample is no step, and the preemption is there already.
  await expect(tour(page)).toContainText('Step 1 of 6')
  for (const step of ['decision', 'filter', 'score', 'preemption', 'more']) {
    await press(page, 'Next')
    await at(page, step)
    await expect(tour(page)).toBeVisible()
  }
  for (const step of ['preemption', 'score', 'filter', 'decision', 'pod']) {
    await press(page, 'Back')
    await at(page, step)
  }
  await expect(tour(page).getByRole('button', { name: 'Back' })).toBeDisabled()
  // Away from its page, a tour that has begun leads back.
  await press(page, 'Next')
  await page.goto(`${simulator.url}/scheduler`)
  await press(page, 'Take me there')
  await expect(page).toHaveURL(/pod=/)
  await press(page, 'End the tour')
  await expect(tour(page)).toBeHidden()

  // Help starts it again.
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByRole('button', { name: 'Take the tour' }).click()
  await at(page, 'pod')
})

test('before it has begun, it stays away from other pages', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions`)
  await expect(page.locator('[data-key]').first()).toBeVisible()
  await expect(tour(page)).toBeHidden()
})

test('its card stays within the screen of a phone, in Japanese', async ({ page, simulator }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.addInitScript(() => localStorage.setItem('language', 'ja'))
  await page.goto(simulator.url)
  await expect(tour(page)).toContainText('Pod を選ぶ')
  for (;;) {
    const box = await tour(page).boundingBox()
    expect(
      (box?.x ?? -1) >= 0 &&
        (box?.y ?? -1) >= 0 &&
        (box?.x ?? 0) + (box?.width ?? 0) <= 390 &&
        (box?.y ?? 0) + (box?.height ?? 0) <= 844
    ).toBe(true)
    const next = tour(page).getByRole('button', { name: '次へ' })
    if (!(await next.isVisible())) break
    const step = await tour(page).getAttribute('data-step')
    await next.click()
    await expect(tour(page)).not.toHaveAttribute('data-step', step ?? '')
  }
})
