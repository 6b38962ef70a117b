// The boards of batch scheduling, from the preset in one click to the story that each tells.

import type { Page } from '@playwright/test'
import { presets } from '../src/features/scheduler/model/presets'
import { objections } from './axe'
import { faults } from './boxes'
import { expect, inWorkspace, node, pod, test, workspaceErrors, type Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })
test.beforeEach(({ allowed }) => void allowed.push(...workspaceErrors))

/** The workspaces of the presets, by the path of the board. */
const worlds = new Map<string, Simulator>()
const world = (path: string) => worlds.get(path)?.url ?? ''

/** Opens an empty board, and the workspace in which its preset fills it. The board itself stays empty. */
async function fromPreset(page: Page, simulator: Simulator, path: string, preset: string): Promise<void> {
  await page.goto(simulator.url + path)
  await page.locator(`main [data-try-preset="${preset}"]`).click()
  worlds.set(path, await inWorkspace(page, path))
  expect((await simulator.kube<{ items: unknown[] }>('GET', '/api/v1/nodes')).items).toEqual([])
}

test('a gang starts together, and another one waits for room', { tag: '@main' }, async ({ page, simulator }) => {
  await fromPreset(page, simulator, '/batch/gangs', 'coscheduling')
  await expect(page.locator('[data-gang="default/batch-1-fits"]')).toContainText('Running')
  await page.locator('[data-gang="default/batch-1-waits"]').click()
  await expect(page).toHaveURL(/group=default(?:%2F|\/)batch-1-waits/)
  await expect(page.getByTestId('gang-sentence')).toContainText('batch-1-waits')
  // Two of the three members find a node; the plugin sends them back because the third does not.
  await expect(page.getByTestId('gang-members').locator('tr[data-member]')).toHaveCount(3)
  await expect(page.getByTestId('gang-why')).toContainText('1 cpu short')
  await expect(page.getByTestId('gang-story').locator('[data-step="noNode"]').first()).toBeVisible()
})

test('borrowed quota is taken back by preemption', { tag: '@main' }, async ({ page, simulator }) => {
  await fromPreset(page, simulator, '/batch/quotas', 'elasticQuota')
  const decisions = page.getByTestId('quota-decisions')
  await decisions.getByRole('link').filter({ hasText: 'quota-1-owner-1' }).click()
  await expect(page.getByTestId('quota-sentence')).toContainText('The min of quota-1-owner covers the pod')
  await expect(page.locator('[data-rule="total"]')).toContainText('8')
  await expect(page.getByTestId('preemption')).toContainText('quota-1-borrower-3')
  // A reason that names nodes is said once.
  const reasons = await page.getByTestId('preemption').locator('.un li').allTextContents()
  expect(reasons.filter((reason) => reason.includes('No victims found on node')).length).toBeLessThan(2)
  // The next attempt finds the borrowed resources given back.
  await expect(page.getByTestId('aftermath')).toContainText('quota-1-b')
  await expect(page.locator('[data-quota="quota-1-owner/quota-1-owner"]')).toContainText('at its min')
})

test('a pod fits a node but no NUMA node of it', { tag: '@main' }, async ({ page, simulator }) => {
  await fromPreset(page, simulator, '/numa', 'numa')
  const decisions = page.getByTestId('numa-decisions')
  // The list gives the reason that the board is about, also where another plugin rejected more nodes.
  await expect(decisions.getByRole('link').filter({ hasText: 'numa-1-large' })).toContainText('cannot align')
  await decisions.getByRole('link').filter({ hasText: 'numa-1-large' }).click()
  await expect(page.locator('[data-testid="numa-nodes"] [data-node]').first()).toContainText('web needs 5 CPU')
  await expect(page.getByTestId('numa-lacking').getByRole('row')).toHaveCount(3)
  await expect(page.getByTestId('numa-zones').locator('[data-zone="node-0"] i.short').first()).toBeVisible()
  // The other pod lies in one of them.
  await decisions.getByRole('link').filter({ hasText: 'numa-1-fits' }).click()
  await expect(page.getByTestId('numa-zones').locator('[data-part="web"]')).toContainText(/NUMA [01]/)
  await expect(page.getByTestId('numa-zones').locator('i.part').first()).toBeVisible()
})

test('a member waits at Permit with its timeout counting down, and the group starts with the last one', async ({
  page,
  simulator,
}) => {
  await simulator.configure(presets.coscheduling)
  await simulator.kube('POST', '/api/v1/nodes', node('ring', { labels: { example: 'ring' } }))
  await simulator.ready('ring')
  await simulator.kube('POST', '/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups', {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name: 'ring' },
    spec: { minMember: 2, scheduleTimeoutSeconds: 120 },
  })
  const member = (name: string, more: object) => ({
    ...pod(name),
    metadata: { name, namespace: 'default', labels: { 'scheduling.x-k8s.io/pod-group': 'ring' } },
    spec: { ...pod(name).spec, nodeSelector: { example: 'ring' }, ...more },
  })
  const create = (body: object) => simulator.kube('POST', '/api/v1/namespaces/default/pods', body)
  // No profile has this name, so the scheduler never tries it, but it is a sibling.
  await create(member('ring-elsewhere', { schedulerName: 'another-scheduler' }))
  await create(member('ring-1', {}))
  await page.goto(`${simulator.url}/batch/gangs?group=default/ring`)
  const row = page.locator('[data-gang="default/ring"]')
  await expect(row.getByRole('timer')).toBeVisible({ timeout: 20_000 })
  await expect(page.getByTestId('gang-sentence')).toContainText('waits for 1 of its 2 members')
  await expect(page.getByTestId('gang-story').locator('[data-step="timeout"]')).toContainText('ring-1')
  const before = Number(/\d+/.exec(await row.getByRole('timer').innerText())?.[0])
  await expect(async () =>
    expect(Number(/\d+/.exec(await row.getByRole('timer').innerText())?.[0])).toBeLessThan(before)
  ).toPass()
  await create(member('ring-2', {}))
  await expect(row).toContainText('Running', { timeout: 20_000 })
  await expect(row.getByRole('timer')).toHaveCount(0)
})

test('each board opens from the decision, from its object and from the palette', async ({ page }) => {
  await page.goto(`${world('/batch/gangs')}/decisions/default/batch-1-waits-1?attempt=1`)
  await page.locator('[data-board="gangs"]').click()
  await expect(page.locator('[data-gang="default/batch-1-waits"]')).toHaveAttribute('aria-current', 'true')
  await page.goto(`${world('/batch/quotas')}/decisions/quota-1-owner/quota-1-owner-1?attempt=1`)
  await page.locator('[data-board="quotas"]').click()
  await expect(page.getByTestId('quota-sentence')).toContainText('quota-1-owner-1')
  // Without NodeResourceTopologyMatch the topologies leave, too.
  const numa = worlds.get('/numa')
  await numa?.configure(presets.default)
  await page.goto(`${world('/numa')}/decisions/default/numa-1-large?attempt=1`)
  await page.locator('[data-board="numa"]').click()
  await expect(page.getByTestId('numa-sentence')).toContainText('numa-1-large')
  await expect(page.getByTestId('numa-gone')).toBeVisible()
  await numa?.configure(presets.numa)
  await expect(page.locator('main [data-node="numa-1"]')).toBeVisible({ timeout: 20_000 })

  for (const [path, board, shown] of [
    [
      '/resources/podgroups.scheduling.x-k8s.io?select=default/batch-1-fits',
      '/batch/gangs',
      '[data-gang="default/batch-1-fits"][aria-current="true"]',
    ],
    [
      '/resources/elasticquotas.scheduling.x-k8s.io?select=quota-1-borrower/quota-1-borrower',
      '/batch/quotas',
      '[data-quota="quota-1-borrower/quota-1-borrower"][aria-current="true"]',
    ],
    [
      '/resources/noderesourcetopologies.topology.node.k8s.io?select=numa-1',
      '/numa',
      'main [data-node="numa-1"][aria-current="true"]',
    ],
  ] as const) {
    await page.goto(world(board) + path)
    await page.getByTestId('open-board').click()
    await expect(page.locator(shown), board).toBeVisible()
  }

  await page.goto(world('/batch/gangs'))
  await page.keyboard.press('Control+k')
  // At once, as a fast typist does: nothing may be lost while the palette loads.
  await page.keyboard.type('batch-1-waits PodGroup')
  await page.getByRole('dialog').getByText('PodGroup default').first().click()
  await expect(page.locator('[data-gang="default/batch-1-waits"][aria-current="true"]')).toBeVisible()
  // A filter is part of the link.
  await page.goto(`${world('/batch/gangs')}/batch/gangs?q=fits`)
  await expect(page.locator('[data-gang]')).toHaveCount(1)
})

test('the filled boards violate no rule of accessibility and no box is at fault', async ({ page, simulator }) => {
  test.setTimeout(240_000)
  const boards = {
    gangs: ['/batch/gangs?group=default/batch-1-waits', '[data-testid="gang-why"]'],
    quotas: ['/batch/quotas?pod=quota-1-owner/quota-1-owner-1&attempt=1', '[data-testid="quota-told"]'],
    numa: ['/numa?pod=default/numa-1-large&attempt=1', '[data-testid="numa-lacking"]'],
  } as const
  const found: string[] = []
  for (const [theme, language] of [
    ['light', 'en'],
    ['dark', 'ja'],
  ] as const) {
    await page.goto(simulator.url)
    await page.evaluate(([t, l]) => (localStorage.setItem('theme', t), localStorage.setItem('language', l)), [
      theme,
      language,
    ] as const)
    for (const [name, [path, shown]] of Object.entries(boards)) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(world(path.split('?')[0] ?? '') + path)
      await expect(page.locator(shown)).toBeVisible()
      for (const line of await objections(page)) found.push(`${name}, ${theme}, ${language}: ${line}`)
      // 720 is a window of 1440 at 200 %.
      for (const [width, height] of [
        [390, 844],
        [720, 450],
        [1440, 900],
        [2560, 1440],
      ] as const) {
        await page.setViewportSize({ width, height })
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
        for (const line of await faults(page)) found.push(`${name}, ${width}, ${language}: ${line}`)
      }
    }
  }
  expect(found).toEqual([])
})
