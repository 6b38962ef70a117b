// What tests do on the page of scenarios.

import type { Page } from '@playwright/test'
import { expect, type Simulator } from './simulator'

/** Adds text at the end of the file in the editor. */
export async function typeAtTheEnd(page: Page, text: string, editor: string | RegExp = 'Scenario file'): Promise<void> {
  await page.getByRole('textbox', { name: editor }).click()
  await page.keyboard.press('ControlOrMeta+End')
  await page.keyboard.insertText(text)
}

/** Runs the example with an expectation that fails. */
export async function runToFail(page: Page): Promise<void> {
  await typeAtTheEnd(
    page,
    '  - that: web.all(p, p.node == "node-0")\n    say: all on one node\n',
    /Scenario file|シナリオファイル/
  )
  await page.getByTestId('run').click()
  await expect(page.getByTestId('open-decision').last()).toBeVisible()
}

/** Runs the example of a sweep, until all of it has ended. */
export async function runSweep(page: Page, simulator: Simulator): Promise<void> {
  await page.goto(`${simulator.url}/scenarios?file=sweep`)
  await endSweep(page)
}

/** Runs the sweep in the editor until all of it has ended. */
export async function endSweep(page: Page): Promise<void> {
  await page.getByTestId('run').click()
  await expect(page.getByTestId('ranked')).toBeVisible()
  await expect(page.getByTestId('cancel-run')).toHaveCount(0)
}
