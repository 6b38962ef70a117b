// Queues: turning them on, the presets, the pending list with its reasons, suggestions, the ledger,
// the settings.

import type { Page } from '@playwright/test'
import { objections } from './axe'
import { faults } from './boxes'
import { expect, test } from '@playwright/test'
import { inWorkspace, Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })

let simulator: Simulator
test.beforeAll(async () => {
  simulator = await Simulator.start()
})
test.afterAll(() => simulator.stop())

const rowOf = (page: Page, table: string, job: string) =>
  page
    .getByTestId(table)
    .locator('tbody tr')
    .filter({ hasText: `job-${job}` })

/** The workspaces of the presets that were shown. */
const shown = new Map<string, Simulator>()

async function show(page: Page, preset: string): Promise<void> {
  await page.goto(`${simulator.url}/batch/queues`)
  await page.locator(`[data-preset="${preset}"]`).click()
  shown.set(preset, await inWorkspace(page, '/batch/queues'))
}

test('a preset shows a head that blocks its queue, in a workspace', { tag: '@main' }, async ({ page }) => {
  await page.goto(`${simulator.url}/batch/queues`)
  await expect(page.getByTestId('turn-on')).toBeVisible()
  await show(page, 'strict')

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

test('a preset shows a queue that borrows, and what finds nothing to borrow any more', async ({ page }) => {
  await show(page, 'borrowing')
  await expect(rowOf(page, 'running', 'borrower')).toBeVisible({ timeout: 30_000 })
  await expect(rowOf(page, 'pending', 'latecomer')).toContainText('1 more cpu needed in queues.')
  await expect(page.getByRole('region', { name: 'Cohorts and ClusterQueues' })).toContainText('borrows 2')
  await expect(page.getByRole('region', { name: 'Cohorts and ClusterQueues' })).toContainText('lends 2')
})

test('a preset shows a workload that evicts another', async ({ page }) => {
  await show(page, 'preemption')
  await expect(rowOf(page, 'running', 'urgent')).toBeVisible({ timeout: 30_000 })
  await expect(rowOf(page, 'pending', 'patient')).toContainText('cpu needed in queues.')
  await expect(page.getByTestId('ledger')).toContainText('Evicts job-patient')
  // The story of the job that won ends on a node.
  await rowOf(page, 'running', 'urgent').getByRole('link').click()
  await expect(page.locator('[data-step="scheduled"]')).toContainText('4 pods, on queues-')
})

test('fair sharing is turned on in the settings, and stays on', async ({ page }) => {
  await page.goto(`${shown.get('borrowing')?.url}/batch/queues`)
  await page.getByTestId('settings').click()
  const apply = page.getByRole('button', { name: 'Apply settings' })
  await expect(apply).toBeDisabled()
  await page.getByTestId('fair-sharing').check()
  await apply.click()
  // The borrower's queue uses 2 more than its nominal quota, of the 8 that its cohort could lend: 2 ÷ 8.
  await expect(page.getByRole('region', { name: 'Cohorts and ClusterQueues' })).toContainText('share 250', {
    timeout: 20_000,
  })
  await expect(rowOf(page, 'running', 'borrower')).toBeVisible()
  await page.reload()
  await page.getByTestId('settings').click()
  await expect(page.getByTestId('fair-sharing')).toBeChecked()
  // A mistake names its field and changes nothing.
  await page.getByRole('textbox', { name: 'Timeout' }).fill('soon')
  await apply.click()
  await expect(page.getByTestId('queue-settings').getByRole('alert')).toContainText('waitForPodsReady')
})

test('the filled page violates no rule of accessibility and no box is at fault', async ({ page }) => {
  test.setTimeout(240_000)
  const found: string[] = []
  for (const [theme, language] of [
    ['light', 'en'],
    ['dark', 'ja'],
  ] as const) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(simulator.url)
    await page.evaluate(([t, l]) => (localStorage.setItem('theme', t), localStorage.setItem('language', l)), [
      theme,
      language,
    ] as const)
    await page.goto(`${shown.get('strict')?.url}/batch/queues`)
    await expect(page.getByTestId('pending')).toBeVisible()
    await page.getByTestId('settings').click()
    for (const line of await objections(page)) found.push(`${theme}, ${language}: ${line}`)
    // 720 is a window of 1440 at 200 %.
    for (const [width, height] of [
      [390, 844],
      [720, 450],
      [1440, 900],
      [2560, 1440],
    ] as const) {
      await page.setViewportSize({ width, height })
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
      for (const line of await faults(page)) found.push(`${width}, ${language}: ${line}`)
    }
  }
  expect(found).toEqual([])
})

test('beside Kueue itself, the page shows what that Kueue writes and decides nothing', async ({ page }) => {
  const beside = shown.get('strict')
  if (!beside) throw new Error('the first preset was not shown')
  await beside.kube('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'kueues-own' },
    webhooks: [
      {
        name: 'vworkload.kb.io',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Ignore',
        clientConfig: { url: 'https://127.0.0.1:1/validate' },
        rules: [
          { apiGroups: ['kueue.x-k8s.io'], apiVersions: ['v1beta2'], operations: ['DELETE'], resources: ['workloads'] },
        ],
      },
    ],
  })
  await page.goto(`${beside.url}/batch/queues`)
  await expect(page.getByTestId('foreign')).toContainText('ValidatingWebhookConfiguration kueues-own')
  const row = page.getByTestId('pending').locator('tbody tr').first()
  await expect(row).toContainText("couldn't assign flavors to pod set main")
  await row.getByRole('link').click()
  await expect(page.getByTestId('workload-events')).toContainText('WaitingForQuota')
  await expect(page.getByTestId('settings')).toHaveCount(0)
})
