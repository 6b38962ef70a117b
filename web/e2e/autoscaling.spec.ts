// Autoscaling: which nodes Karpenter would buy and why not, which could go, and what a change of a NodePool would do.

import type { Page } from '@playwright/test'
import { expect, test } from '@playwright/test'
import { objections } from './axe'
import { faults } from './boxes'
import { Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })

let simulator: Simulator
test.beforeAll(async () => {
  simulator = await Simulator.start()
})
test.afterAll(() => simulator.stop())

const pods = '/api/v1/namespaces/default/pods'
const pod = (name: string, cpu: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { ...spec, containers: [{ name: 'c', image: 'registry.example.com/c:1', resources: { requests: { cpu } } }] },
})

/** An answer takes a while on a busy machine. */
const slow = { timeout: 30_000 }
const sentence = (page: Page) => page.getByTestId('autoscaling-sentence')
const openView = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Views of autoscaling' }).getByRole('link', { name }).click()

test('a NodePool is created, and shows which node would help which pod', { tag: '@main' }, async ({ page }) => {
  await page.goto(`${simulator.url}/autoscaling`)
  await expect(page.getByTestId('first-pool')).toContainText('which nodes Karpenter may buy')
  expect(await objections(page)).toEqual([])
  await page.getByTestId('begin').click()
  await expect(sentence(page)).toHaveText('No pod waits for a node, so Karpenter would add none.', slow)
  await expect(page.getByTestId('pools').locator('[data-pool="general"]')).toContainText('0 of 100')
  await expect(page.getByTestId('prices')).toContainText('example prices')

  // The page asks again by itself.
  await simulator.kube('POST', pods, pod('web', '6'))
  await expect(sentence(page)).toContainText('The pod that waits would get a new node: 1 node for $0.22 more', slow)
  const bought = page.getByTestId('helps').locator('[data-node]')
  await expect(bought).toContainText('web')
  await expect(bought).toContainText('c-8x-amd64-linux')
  await expect(bought).toContainText('on-demand')
  await expect(bought).toContainText('0.2172')
  await expect(bought).toContainText('spot is not wanted')

  await simulator.kube('POST', pods, pod('geo', '1', { nodeSelector: { 'kubernetes.io/arch': 'arm64' } }))
  await simulator.kube('POST', pods, pod('giant', '900'))
  await simulator.kube('POST', pods, pod('later', '1', { schedulingGates: [{ name: 'example.com/wait' }] }))
  await expect(sentence(page)).toContainText('No NodePool helps 2 pods. Karpenter does not look at 1 pod.', slow)
  const why = (name: string) => page.getByTestId('not-helped').locator(`[data-pods~="default/${name}"]`)
  await expect(why('geo')).toContainText('the pod wants kubernetes.io/arch In [arm64], and the NodePool has In [amd64]')
  await expect(why('giant')).toContainText('none of 38 instance types fits')
  await expect(why('giant')).toContainText('20 have too little CPU')
  await expect(page.getByTestId('not-looked')).toContainText('scheduling gates')
  expect(await objections(page)).toEqual([])
  expect(await faults(page)).toEqual([])

  await page.getByRole('button', { name: '日本語' }).click()
  await expect(sentence(page)).toContainText('新しいノード')
  await expect(why('geo')).toContainText('Pod は kubernetes.io/arch In [arm64] を求め')
  await page.getByRole('button', { name: 'EN', exact: true }).click()

  // From a pod that waits, and back.
  await page.goto(`${simulator.url}/why`)
  await page.locator('[data-pod="default/giant"]').getByTestId('autoscale').click()
  await expect(page).toHaveURL(/autoscaling\?pod=default\/giant/)
  await expect(why('giant')).toHaveClass(/cur/, slow)
})

test('a change of a NodePool is tried and applied', { tag: '@main' }, async ({ page }) => {
  await page.goto(`${simulator.url}/autoscaling?view=pool`)
  const editor = page.getByRole('textbox', { name: 'The NodePool, in YAML' })
  await expect(editor).toContainText('on-demand', slow)
  await expect(page.getByTestId('preview')).toBeDisabled()
  await editor.getByText('on-demand').dblclick()
  await editor.press('End')
  await page.keyboard.press('Shift+Home')
  await page.keyboard.type('- spot')
  await page.getByTestId('preview').click()
  await expect(sentence(page)).toContainText('as before. New nodes would cost $0.15 an hour, instead of $0.22', slow)
  const cost = page.getByTestId('figures').locator('[data-figure="New nodes, $ an hour"]')
  await expect(cost).toContainText('0.2172')
  await expect(cost).toContainText('0.1520')
  await expect(cost).toContainText('−0.0652')
  expect(await objections(page)).toEqual([])
  expect(await faults(page)).toEqual([])

  await page.getByTestId('apply').click()
  await expect(page.getByRole('dialog')).toContainText('NodePool general')
  await page.getByTestId('apply-hypothesis-confirm').click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await openView(page, 'Board')
  await expect(page.getByTestId('helps').locator('[data-node]')).toContainText('spot', slow)
  await expect(sentence(page)).toContainText('for $0.15 more an hour', slow)
})

test('nodes could go, or say what holds them', async ({ page }) => {
  const node = (name: string, annotations: Record<string, string> = {}) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations,
      labels: {
        'karpenter.sh/nodepool': 'general',
        'karpenter.sh/capacity-type': 'on-demand',
        'karpenter.sh/initialized': 'true',
        'karpenter.sh/registered': 'true',
        'node.kubernetes.io/instance-type': 'c-8x-amd64-linux',
        'topology.kubernetes.io/zone': 'zone-a',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
      },
    },
    status: {
      capacity: { cpu: '8', memory: '16Gi', pods: '20' },
      allocatable: { cpu: '8', memory: '16Gi', pods: '20' },
    },
  })
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(`${simulator.url}/autoscaling?view=nodes`)
  await expect(page.getByText('Karpenter has no node here').first()).toBeVisible(slow)
  await simulator.kube('POST', '/api/v1/nodes', node('node-a'))
  await simulator.kube('POST', '/api/v1/nodes', node('node-b', { 'karpenter.sh/do-not-disrupt': 'true' }))
  await simulator.ready('node-a', 'node-b')
  const list = page.getByTestId('nodes')
  await expect(list.locator('[data-node="node-b"]')).toContainText('Blocked', slow)
  await list.locator('[data-node="node-b"]').click()
  await expect(page).toHaveURL(/node=node-b/)
  await expect(page.getByTestId('blockers').locator('[data-kind="nodeAnnotation"]')).toContainText('do-not-disrupt')
  await expect(sentence(page)).toContainText('node-b stays')
  // At least one of them is empty.
  expect(errors).toEqual([])
  expect(await objections(page)).toEqual([])
  expect(await faults(page)).toEqual([])
})

test('instance types come from a file', async ({ page }) => {
  const types = [
    {
      name: 'mine-8x',
      architecture: 'amd64',
      operatingSystems: ['linux'],
      resources: { cpu: '8', memory: '16Gi', pods: '20' },
      offerings: ['on-demand', 'spot'].map((capacityType) => ({
        Price: 0.07,
        Available: true,
        Requirements: [
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: [capacityType] },
          { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['zone-a'] },
        ],
      })),
    },
  ]
  const choose = (name: string, text: string) =>
    page.getByTestId('types-file').setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
  await page.goto(`${simulator.url}/autoscaling`)
  await expect(page.getByTestId('types')).toHaveText('38 instance types', slow)
  await choose('mine.json', JSON.stringify(types))
  await expect(page.getByTestId('types')).toHaveText('1 instance type', slow)
  await expect(page.getByTestId('prices')).toHaveText('prices from mine.json')
  await choose('broken.json', '[{"name": 1}]')
  await expect(page.getByRole('alert')).toContainText('The instance types of broken.json were rejected', slow)
  await page.getByTestId('built-in').click()
  await expect(page.getByTestId('types')).toHaveText('38 instance types', slow)
  await expect(page.getByRole('alert')).toHaveCount(0)
})

test('Karpenter acts, and says what it did', { tag: '@main' }, async ({ page }) => {
  const other = await Simulator.start()
  try {
    await page.goto(`${other.url}/autoscaling`)
    await page.getByTestId('begin').click()
    await expect(sentence(page)).toHaveText('No pod waits for a node, so Karpenter would add none.', slow)
    await other.kube('POST', pods, pod('web', '6'))
    await expect(sentence(page)).toContainText('The pod that waits would get a new node', slow)

    // The pod would not come back, so the user is asked.
    await page.getByTestId('let-act').click()
    const dialog = page.getByRole('dialog')
    await expect(dialog).toContainText('1 pod has no controller: default/web')
    expect(await objections(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Let it act all the same' }).click()
    await expect(page.getByTestId('acts')).toHaveText('Karpenter acts', slow)
    await openView(page, 'What it did')
    const log = page.getByTestId('log')
    await expect(log.locator('[data-kind="launched"]')).toContainText(
      'Karpenter bought c-8x-amd64-linux (on-demand, zone-a) for NodePool general, for $0.2172 an hour: general-1.',
      slow
    )
    await expect(log.locator('[data-kind="joined"]')).toContainText('has become the node general-1', slow)
    await other.ready('general-1')

    // The cloud fails on demand.
    await page.getByTestId('zones').fill('zone-a')
    await page.getByTestId('apply-cloud').click()
    await expect(page.getByTestId('apply-cloud')).toBeDisabled(slow)
    await other.kube('POST', pods, pod('more', '7'))
    await expect(log.locator('[data-kind="noCapacity"]').first()).toContainText('in zone-a', slow)
    expect(await objections(page)).toEqual([])
    expect(await faults(page)).toEqual([])

    await page.getByTestId('let-act').click()
    await expect(sentence(page)).toHaveText('Karpenter is off: it adds no node and takes none away.', slow)
  } finally {
    await other.stop()
  }
})
