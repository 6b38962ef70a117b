// Drain: what a drain would do, and doing it.

import { objections } from './axe'
import { faults } from './boxes'
import { expect, node, test } from './simulator'

/** An answer takes a while on a busy machine. */
const slow = { timeout: 30_000 }

test('a drain is seen beforehand, and carried out', { tag: '@main' }, async ({ page, simulator }) => {
  for (const name of ['node-1', 'node-2', 'node-3']) {
    const zone = name === 'node-3' ? 'zone-b' : 'zone-a'
    await simulator.kube(
      'POST',
      '/api/v1/nodes',
      node(name, { cpu: '2', labels: { 'topology.kubernetes.io/zone': zone } })
    )
  }
  await simulator.ready('node-1', 'node-2', 'node-3')
  await simulator.kube('POST', '/apis/apps/v1/namespaces/default/deployments', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'c', image: 'registry.example.com/c:1', resources: { requests: { cpu: '1' } } }] },
      },
    },
  })
  await simulator.kube('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 1 },
  })
  await expect(async () => {
    const found = await simulator.kube<{ items: { status: { phase: string } }[] }>(
      'GET',
      '/api/v1/namespaces/default/pods'
    )
    expect(found.items.filter(({ status }) => status.phase === 'Running')).toHaveLength(4)
  }).toPass(slow)

  await page.goto(`${simulator.url}/drain`)
  await expect(page.getByText('What will a drain do?').first()).toBeVisible(slow)
  expect(await objections(page)).toEqual([])
  await page.getByRole('combobox', { name: 'Add a node' }).fill('node-1')
  await page.getByRole('combobox', { name: 'Add a node' }).press('Enter')
  const sentence = page.getByTestId('drain-sentence')
  await expect(sentence).toContainText('The node becomes empty, and the last replacement is ready after', slow)
  await expect(page.getByTestId('drain-timeline').locator('[data-node="node-1"]')).toContainText('empty after')
  expect(await objections(page)).toEqual([])
  expect(await faults(page)).toEqual([])

  // Two of three nodes leave too little room, so the budget never lets the last pods go.
  await page.getByRole('button', { name: 'Add all of zone-a' }).click()
  await expect(sentence).toContainText('node-2 would not', slow)
  await expect(page.getByTestId('drain-pending')).toContainText('too little')
  await expect(page.getByTestId('drain-budgets')).toContainText('default/web')
  await page.getByRole('button', { name: 'Do not drain node-2' }).click()
  await expect(sentence).toContainText('The node becomes empty', slow)

  await page.getByTestId('carry-out').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Carry it out here' }).click()
  await expect(async () => {
    const found = await simulator.kube<{ items: { spec: { nodeName?: string } }[] }>(
      'GET',
      '/api/v1/namespaces/default/pods'
    )
    expect(found.items.filter(({ spec }) => spec.nodeName === 'node-1')).toHaveLength(0)
  }).toPass(slow)
  await expect(page.getByText('The drain has ended')).toBeVisible(slow)
})
