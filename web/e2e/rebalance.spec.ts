// Rebalance: what the descheduler would do, and doing it.

import { objections } from './axe'
import { faults } from './boxes'
import { expect, inWorkspace, node, test, workspaceErrors, type Simulator } from './simulator'

/** An answer takes a while on a busy machine. */
const slow = { timeout: 30_000 }

/** The nodes of the pods that run. */
async function nodesOfPods(simulator: Simulator) {
  const found = await simulator.kube<{ items: { spec: { nodeName?: string }; status: { phase: string } }[] }>(
    'GET',
    '/api/v1/namespaces/default/pods'
  )
  return found.items.filter(({ status }) => status.phase === 'Running').map(({ spec }) => spec.nodeName)
}

/** Two pods on one node, and a second node that came later. */
async function crowded(simulator: Simulator, nodeSelector = {}) {
  await simulator.kube('POST', '/api/v1/nodes', node('node-1', { cpu: '2' }))
  await simulator.ready('node-1')
  await simulator.kube('POST', '/apis/apps/v1/namespaces/default/deployments', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          nodeSelector,
          containers: [{ name: 'c', image: 'registry.example.com/c:1', resources: { requests: { cpu: '500m' } } }],
        },
      },
    },
  })
  await expect(async () => expect(await nodesOfPods(simulator)).toEqual(['node-1', 'node-1'])).toPass(slow)
  await simulator.kube('POST', '/api/v1/nodes', node('node-2', { cpu: '2' }))
  await simulator.ready('node-2')
}

test(
  'what the descheduler would do is seen beforehand, and carried out',
  { tag: '@main' },
  async ({ page, simulator, allowed }) => {
    // The policy with a mistake.
    allowed.push(/status of 422/)
    await crowded(simulator)
    await page.goto(`${simulator.url}/drain`)
    await page.getByRole('button', { name: 'Rebalance' }).click()
    const sentence = page.getByTestId('rebalance-sentence')
    await expect(sentence).toContainText('What will the descheduler do?', slow)
    await expect(page.locator('.cm-content')).toBeVisible(slow)
    expect(await objections(page)).toEqual([])

    await page.getByTestId('example-duplicates').click()
    await expect(sentence).toHaveText('The descheduler would evict 1 pod: 1 to another node.', slow)
    await expect(page.getByTestId('rebalance-evictions').locator('[data-fate="moves"]')).toContainText('node-2')
    await expect(page.getByTestId('rebalance-nodes').locator('[data-node="node-2"]')).toContainText('0 → 1')
    await expect(page.getByTestId('rebalance-compared')).toContainText('the same 1 eviction')
    expect(await objections(page)).toEqual([])
    expect(await faults(page)).toEqual([])

    // A mistake is shown at its line, and the answer to what was asked before goes.
    await page.locator('.cm-content').click()
    await page.keyboard.press('ControlOrMeta+End')
    await page.keyboard.type('      - RemoveDuplicate')
    await expect(sentence).toContainText('would not take this policy', slow)
    await expect(page.locator('.cm-editor')).toContainText('did you mean RemoveDuplicates?', slow)
    await page.getByTestId('example-duplicates').click()
    await expect(sentence).toContainText('would evict 1 pod', slow)

    await page.getByTestId('carry-out').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Carry it out here' }).click()
    await expect(page.getByText('The descheduler has run')).toBeVisible(slow)
    await expect(async () => expect((await nodesOfPods(simulator)).sort()).toEqual(['node-1', 'node-2'])).toPass(slow)
    await expect(sentence).toContainText('would evict no pod', slow)
  }
)

test('a plan is carried out in a workspace, and the cluster stays', async ({ page, simulator, allowed }) => {
  test.setTimeout(150_000)
  allowed.push(...workspaceErrors)
  await simulator.reset()
  await crowded(simulator)
  await page.goto(`${simulator.url}/drain?view=rebalance`)
  await page.getByTestId('example-duplicates').click()
  const sentence = page.getByTestId('rebalance-sentence')
  await expect(sentence).toContainText('would evict 1 pod', slow)
  await page.getByTestId('in-workspace').click()

  const workspace = await inWorkspace(page, '/drain')
  await expect(async () => expect((await nodesOfPods(workspace)).sort()).toEqual(['node-1', 'node-2'])).toPass(slow)
  await expect(page.getByTestId('branch-band')).toContainText('Descheduler')
  await expect(sentence).toContainText('would evict no pod', slow)
  // The address does not run it again when the page is loaded again.
  await expect(page).not.toHaveURL(/run=yes/)
  expect(await nodesOfPods(simulator)).toEqual(['node-1', 'node-1'])
})

test('evictions in vain have a reason, and another policy that does better', async ({ page, simulator }) => {
  await simulator.reset()
  await crowded(simulator, { 'kubernetes.io/hostname': 'node-1' })
  // PodLifeTime counts whole seconds.
  await expect(async () => {
    const { items } = await simulator.kube<{ items: { metadata: { creationTimestamp: string } }[] }>(
      'GET',
      '/api/v1/namespaces/default/pods'
    )
    for (const { metadata } of items) expect(Date.now() - Date.parse(metadata.creationTimestamp)).toBeGreaterThan(3000)
  }).toPass(slow)
  const policy = `apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: default
  pluginConfig:
  - {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 1, labelSelector: {matchLabels: {app: web}}}}
  plugins: {deschedule: {enabled: [PodLifeTime]}}
`
  await page.goto(`${simulator.url}/drain?${new URLSearchParams({ view: 'rebalance', policy, rounds: '2' })}`)
  const sentence = page.getByTestId('rebalance-sentence')
  await expect(sentence).toContainText('4 back to the same node', slow)
  await expect(page.getByTestId('came-back').first()).toHaveText('the only one of 2 nodes that takes it')
  await expect(page.getByTestId('rebalance-rounds')).toContainText('Each round evicts a pod of ReplicaSet web-')
  const better = page.getByTestId('rebalance-better')
  await expect(better).toContainText('nodeFit: true for DefaultEvictor', slow)
  await expect(better).toContainText('0 evictions')
  expect(await objections(page)).toEqual([])
  expect(await faults(page)).toEqual([])
  await better.getByRole('button', { name: 'Take this policy' }).click()
  await expect(sentence).toContainText('would evict no pod', slow)
  await expect(page.locator('.cm-content')).toContainText('nodeFit: true')
  await expect(better).toHaveCount(0)
})
