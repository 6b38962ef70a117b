// Before you submit: both halves of a verdict, the tiers, the least changes, several jobs as a table.

import type { Page } from '@playwright/test'
import { expect, test } from '@playwright/test'
import { objections } from './axe'
import { faults } from './boxes'
import { inWorkspace, Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })

let simulator: Simulator
test.beforeAll(async () => {
  simulator = await Simulator.start()
})
test.afterAll(() => simulator.stop())

const job = (name: string, pods: number, cpu: string, queue = 'team') => `apiVersion: batch/v1
kind: Job
metadata: {name: ${name}, namespace: default, labels: {kueue.x-k8s.io/queue-name: ${queue}}}
spec:
  parallelism: ${pods}
  completions: ${pods}
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: "${cpu}"}}}]
`

async function ask(page: Page, files: readonly string[]): Promise<void> {
  await page
    .locator('input[type=file]')
    .setInputFiles(
      files.map((text, i) => ({ name: `job-${i}.yaml`, mimeType: 'application/yaml', buffer: Buffer.from(text) }))
    )
  await expect(page.getByTestId('submit-answer')).toBeVisible({ timeout: 30_000 })
  await expect(page.getByTestId('submit-ask')).toBeEnabled({ timeout: 30_000 })
}

test('jobs are asked before they are submitted', { tag: '@main' }, async ({ page }) => {
  await page.goto(`${simulator.url}/batch/queues`)
  await page.locator('[data-preset="strict"]').click()
  const workspace = await inWorkspace(page, '/batch/queues')
  const pending = page.getByTestId('pending').locator('tbody tr')
  await expect(pending).toHaveCount(2, { timeout: 30_000 })
  const answer = await page.request.get(`${workspace.url}/api/v1/kueue`)
  const { view } = (await answer.json()) as { view: { localQueues: { name: string }[] } }
  const queue = view.localQueues[0]?.name ?? ''

  await page.goto(`${workspace.url}/batch/submit`)
  await ask(page, [job('train-12', 2, '1', queue)])
  await expect(page.getByTestId('submit-sentence')).toContainText('train-12 would wait for its queue')
  await expect(page.getByTestId('quota-half')).toContainText('Waits')
  await expect(page.getByTestId('nodes-half')).toContainText('Fit now: 2 of 2 pods')
  await expect(page.getByTestId('tiers').locator('li')).toHaveCount(8)
  await expect(page.getByTestId('tiers').locator('.stops')).toHaveText(/WaitingForQuota/)
  await expect(page.getByTestId('start')).toContainText('cannot say')
  expect(await objections(page)).toEqual([])
  expect(await faults(page)).toEqual([])

  await ask(page, [job('train-13', 1, '1', 'none'), job('train-14', 1, '1', queue)])
  await expect(page.getByTestId('submit-sentence')).toContainText('Of 2 jobs')
  await expect(page.getByTestId('jobs').locator('tbody tr')).toHaveCount(2)
  await page.getByTestId('jobs').getByRole('button', { name: 'train-14' }).click()
  await expect(page.getByTestId('tiers')).toContainText('WaitingForQuota')
  expect(await objections(page)).toEqual([])

  // Nothing was created.
  const jobs = await page.request.get(`${workspace.url}/kubernetes/apis/batch/v1/namespaces/default/jobs`)
  expect(JSON.stringify(await jobs.json())).not.toContain('train-1')
})

test('what is no job is refused in a sentence', async ({ page }) => {
  await page.goto(`${simulator.url}/batch/submit`)
  await page.locator('input[type=file]').setInputFiles([
    {
      name: 'x.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n'),
    },
  ])
  await expect(page.getByText('ConfigMap x is no workload')).toBeVisible()
})
