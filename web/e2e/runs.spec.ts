// Scenarios: editing, running, what failed and why, and comparing two configurations.

import { expect, refused, test } from './simulator'

test('a scenario runs, and a failed expectation shows what was found and the decision behind it', { tag: '@main' }, async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/scenarios`)
  await page.getByTestId('run').click()
  await expect(page.getByTestId('run-headline')).toBeVisible()
  await expect(page.getByTestId('held').first()).toContainText('every web pod has a node')

  const editor = page.getByRole('textbox', { name: 'Scenario file' })
  await editor.click()
  await page.keyboard.press('ControlOrMeta+End')
  await page.keyboard.insertText('  - that: web.all(p, p.node == "node-0")\n    say: all on one node\n')
  await page.getByTestId('run').click()
  await expect(page.getByTestId('run-headline')).toContainText('Failed')
  await expect(page.getByTestId('not-held').last()).toContainText('all on one node')
  await expect(page.getByTestId('deciding').last()).toContainText('web-')
})

test('a wrong scenario shows the mistake, and two configurations are compared', async ({ page, simulator, allowed }) => {
  allowed.push(refused(400))
  await page.goto(`${simulator.url}/scenarios?against=current`)
  await page.getByTestId('run').click()
  await expect(page.getByTestId('run-comparison')).toContainText('Pods placed')
  await expect(page.getByText('0 of 12 pods moved')).toBeVisible()

  const editor = page.getByRole('textbox', { name: 'Scenario file' })
  await editor.click()
  await page.keyboard.press('ControlOrMeta+End')
  await page.keyboard.insertText('- crate: {}\n')
  await page.getByTestId('run').click()
  await expect(page.getByRole('alert').first()).toContainText('there is no such field')
})
