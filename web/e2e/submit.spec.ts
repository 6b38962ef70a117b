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
  await expect(page.getByTestId('tiers').locator('.ok').first()).toContainText(`${queue} leads to`)
  await expect(page.getByTestId('start')).toContainText('cannot say')
  // What runs and what waits, the job last, and what is in reach of it.
  await expect(page.getByTestId('lanes').locator('li')).not.toHaveCount(0)
  await expect(page.getByTestId('lanes').locator('.cur')).toContainText('train-12')
  await expect(page.getByTestId('reach').getByRole('img')).toHaveAccessibleName(
    /In reach: .* now\. train-12 needs 2 CPU/
  )
  await expect(page.getByTestId('in-reach')).toContainText('nodes2 of 2 pods')
  await expect(page.getByTestId('elsewhere')).toContainText('Without a queue')
  await expect(page.getByTestId('influences')).toContainText('more of')
  await expect(page.getByText('the simulator’s Configuration')).toBeVisible()
  expect(await objections(page)).toEqual([])
  expect(await faults(page)).toEqual([])

  // In Japanese no reason is left in English but Kueue's own words, which say so.
  await page.getByRole('button', { name: '日本語' }).click()
  await expect(page.getByTestId('tiers')).toContainText('不足')
  await expect(page.getByTestId('quota-half')).toContainText('足りません')
  for (const one of await page
    .getByTestId('quota-half')
    .getByText(/insufficient/)
    .all()) {
    await expect(one).toHaveAttribute('lang', 'en')
  }
  await page.getByRole('button', { name: 'EN', exact: true }).click()

  await ask(page, [job('train-13', 1, '1', 'none'), job('train-14', 1, '1', queue)])
  await expect(page.getByTestId('submit-sentence')).toContainText('Of 2 jobs')
  await expect(page.getByTestId('jobs').locator('tbody tr')).toHaveCount(2)
  await page.getByTestId('jobs').getByRole('button', { name: 'train-14' }).click()
  await expect(page.getByTestId('tiers')).toContainText('WaitingForQuota')
  expect(await objections(page)).toEqual([])

  // Nothing was created, and the same objects can be.
  const jobs = async (): Promise<string> => {
    const list = await page.request.get(`${workspace.url}/kubernetes/apis/batch/v1/namespaces/default/jobs`)
    return JSON.stringify(await list.json())
  }
  expect(await jobs()).not.toContain('train-1')
  await page.getByTestId('submit-create').click()
  await expect(page.getByRole('dialog')).toContainText('train-14')
  await page.keyboard.press('Escape')
})

test('a least change is picked, and put into the job', async ({ page }) => {
  await page.goto(`${simulator.url}/batch/submit`)
  const answer = (text: string) => {
    const pods = /parallelism: 1\b/.test(text) ? 1 : 2
    const waits = pods === 2
    return {
      apiVersion: 'submit.kube-scheduler-simulator/v1',
      kind: 'Answer',
      verdict: waits ? 'waits' : 'admitted',
      sentence: '',
      subject: { kind: 'Job', namespace: 'default', name: 'w', queue: 'q', priority: 0, pods, requests: { cpu: '2' } },
      quota: {
        admitted: !waits,
        localQueue: 'q',
        clusterQueue: 'q',
        cohorts: [],
        text: '',
        podSets: [{ name: 'main', count: pods, asked: pods, flavors: { cpu: 'f' } }],
        resources: [],
        borrows: [],
        checks: [],
      },
      nodes: { fit: pods, pods, needs: pods, flavored: true, text: '', on: ['n1'], reasons: [], changes: [] },
      reason: { tier: waits ? 'WaitingForQuota' : undefined, number: 5, text: 'x', said: [] },
      tiers: [],
      preempts: [],
      start: { now: !waits, earliest: null, latest: null, runs: 0, started: 0, restsOn: [], text: '' },
      elsewhere: [],
      influences: [],
      changes: waits
        ? [
            {
              kind: 'pods',
              text: '',
              suggestion: { kind: 'pods', podSet: 'main', count: 1 },
              admitted: true,
              preempts: ['default/v'],
              fit: 1,
              pods: 1,
              flavors: ['f'],
              on: ['n1'],
            },
          ]
        : [],
    }
  }
  // A job that waits takes a cluster with queues, which the test above has; here the page is what counts.
  await page.route('**/api/v1/submit', (route) => {
    const { objects } = route.request().postDataJSON() as { objects: string[] }
    const summary = { jobs: 1, starts: 0, noNode: 0, waits: 1, never: 0, preempted: 0, asks: {} }
    const at = '2026-01-01T00:00:00Z'
    const judged = { cluster: '', at, scheduler: '', nodes: 1, pods: 0, seconds: 0, note: '' }
    const items = [answer(objects.join(''))]
    return route.fulfill({
      json: { apiVersion: '', kind: 'AnswerList', sentence: '', summary, items, judged, notJudged: [] },
    })
  })
  await ask(page, [job('w', 2, '1', 'q')])
  const changes = page.getByTestId('changes')
  await changes.getByRole('button', { name: /want 1 pod/ }).click()
  await expect(changes.getByRole('status')).toContainText('in f')
  await expect(changes.getByRole('status')).toContainText('preempts default/v')
  await page.getByTestId('put').click()
  await expect(page.getByTestId('submit-sentence')).toContainText('w would be admitted now and start on n1')
  await expect(page.locator('.file')).toContainText('parallelism: 1')
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
