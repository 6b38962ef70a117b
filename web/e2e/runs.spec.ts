// Scenarios: editing, running, what failed and why, comparing two configurations, and sweeps.

import { runSweep, typeAtTheEnd } from './scenarios'
import { expect, refused, test } from './simulator'

test(
  'a scenario runs, and a failed expectation shows what was found and the decision behind it',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await page.goto(`${simulator.url}/scenarios`)
    await page.getByTestId('run').click()
    await expect(page.getByTestId('run-headline')).toBeVisible()
    await expect(page.getByTestId('held').first()).toContainText('every web pod has a node')

    await typeAtTheEnd(page, '  - that: web.all(p, p.node == "node-0")\n    say: all on one node\n')
    await page.getByTestId('run').click()
    await expect(page.getByTestId('run-headline')).toContainText('Failed')
    await expect(page.getByTestId('not-held').last()).toContainText('all on one node')
    await expect(page.getByTestId('deciding').last()).toContainText('web-')

    // The decision behind it opens whole, and leads back.
    const pod = await page.getByTestId('deciding').last().locator('b').first().innerText()
    await page.getByTestId('open-decision').last().click()
    await expect(page.getByTestId('report').getByRole('heading', { name: pod })).toBeVisible()
    await expect(page.getByTestId('filter-matrix').locator('[data-state]').first()).toBeVisible()
    await page.getByTestId('back-to-run').click()
    await expect(page.getByTestId('not-held').last()).toContainText('all on one node')
  }
)

test('a wrong scenario shows the mistake, and two configurations are compared', async ({
  page,
  simulator,
  allowed,
}) => {
  allowed.push(refused(400))
  await page.goto(`${simulator.url}/scenarios?against=current`)
  await page.getByTestId('run').click()
  await expect(page.getByTestId('run-comparison')).toContainText('Pods placed')
  await expect(page.getByText('0 of 12 pods moved')).toBeVisible()

  await typeAtTheEnd(page, '- crate: {}\n')
  await page.getByTestId('run').click()
  await expect(page.getByRole('alert').first()).toContainText('unknown field')
})

test('a sweep ranks combinations, shades them, and shows the runs of one', async ({ page, simulator }) => {
  await runSweep(page, simulator)
  // 2 strategies × 3 weights of spread × 4 of fit, in one panel for each strategy.
  await expect(page.getByTestId('multiples').locator('section')).toHaveCount(2)
  await expect(page.getByTestId('multiples').locator('[data-point]')).toHaveCount(24)
  // The ten best, and the configuration as it is.
  await expect(page.getByTestId('ranked').locator('tbody tr')).toHaveCount(11)
  await page.getByTestId('all-points').click()
  await expect(page.getByTestId('ranked').locator('tbody tr')).toHaveCount(24)
  await expect(page.getByTestId('ranked')).toContainText('off')
  const best = page.getByTestId('multiples').locator('.best').first()
  await expect(best).toHaveAccessibleName(/best/)
  // One point is the configuration as it is, with which the others compare.
  await expect(page.getByTestId('multiples').locator('.unchanged')).toHaveCount(1)
  await expect(page.getByTestId('ranked').getByText('unchanged configuration')).toHaveCount(1)
  await expect(page.getByTestId('histogram').getByRole('listitem')).not.toHaveCount(0)

  // Another metric changes what the cells say, and a link keeps it.
  await page.getByTestId('metric').getByRole('combobox').selectOption('nodes in use')
  await expect(best).toHaveAccessibleName(/nodes in use/)
  await expect(page).toHaveURL(/metric=nodes/)

  await best.press('Enter')
  await expect(page.getByTestId('point').getByTestId('run-headline')).toBeVisible()
  await page.getByTestId('point').getByRole('button', { name: 'seed 2' }).click()
  await expect(page.getByTestId('point').getByTestId('run-headline')).toBeVisible()
  await page.reload()
  await expect(page.getByTestId('point').getByTestId('run-headline')).toBeVisible()
})

test('a sweep is canceled, and keeps what has ended', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/scenarios?file=sweep`)
  const editor = page.getByRole('textbox', { name: 'Sweep file' })
  await editor.getByText('1..3').dblclick()
  await page.keyboard.press('Home')
  await page.keyboard.press('Shift+End')
  await page.keyboard.insertText('seed: 1..20')
  await page.getByTestId('run').click()
  await page.getByTestId('cancel-run').click()
  await expect(page.getByText(/Canceled after \d+ of 480 runs/)).toBeVisible()
  await expect(page.getByTestId('multiples').locator('[data-point]')).toHaveCount(24)
})

test('a mistake in a sweep is shown', async ({ page, simulator, allowed }) => {
  allowed.push(refused(400))
  await page.goto(`${simulator.url}/scenarios?file=sweep`)
  await typeAtTheEnd(page, '- most: nothing\n', 'Sweep file')
  await page.getByTestId('run').click()
  await expect(page.getByRole('alert').first()).toContainText('want most or least with one of passed')
})

test('a mistake in the scenario of a sweep is marked in the scenario', async ({ page, simulator, allowed }) => {
  allowed.push(refused(400))
  await page.goto(`${simulator.url}/scenarios`)
  await typeAtTheEnd(page, '- crate: {}\n')
  await page.getByTestId('file-kind').getByRole('button', { name: 'Sweep' }).click()
  await expect(page.getByRole('textbox', { name: 'Sweep file' })).toBeVisible()
  await page.getByTestId('run').click()
  await expect(page.getByRole('alert').first()).toContainText('unknown field')
  await expect(page.getByRole('textbox', { name: 'Scenario file' })).toBeVisible()
  await expect(page.locator('.cm-lintRange-error').first()).toBeVisible()
})
