// Preemption and its aftermath, durations, node readiness, and warnings of the server.

import { createUrgent, expect, node, pod, Simulator, test } from './simulator'

test.describe.configure({ mode: 'serial' })

test('preemption shows its candidates, victims and deciding rule, and which event requeued the pod', async ({
  page,
  simulator,
}) => {
  for (const name of ['small-1', 'small-2']) await simulator.kube('POST', '/api/v1/nodes', node(name, { cpu: '4' }))
  await simulator.kube('POST', '/api/v1/nodes', node('tainted', { taint: true }))
  await simulator.ready('small-1', 'small-2', 'tainted')
  for (const [name, on] of [
    ['low-1', 'small-1'],
    ['low-2', 'small-1'],
    ['low-3', 'small-2'],
  ] as const) {
    const low = pod(name, '2')
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', { ...low, spec: { ...low.spec, nodeName: on } })
  }
  await createUrgent(simulator, 'high', '3')

  await page.goto(`${simulator.url}/decisions/default/high`)
  await expect(page.getByTestId('explanation')).toContainText('high runs on small-2: it was nominated there')
  await expect(page.getByTestId('not-evaluated')).toContainText(
    '2 not evaluated: the scheduler tried the nominated node first'
  )
  const queue = page.getByTestId('queue-facts')
  await expect(queue).toContainText('AssignedPodDelete of default/low-3')
  await expect(queue).toContainText('hint of NodeResourcesFit')

  await page.getByRole('navigation', { name: 'Attempts' }).getByText('Attempt 1').click()
  await expect(page.getByTestId('explanation')).toContainText('Preemption makes room on small-2 by removing 1 pod.')
  const preemption = page.getByTestId('preemption')
  await expect(preemption.locator('[data-node="small-2"]')).toContainText('chosen')
  await expect(preemption.locator('[data-node="small-1"]')).toContainText('low-1')
  await expect(preemption).toContainText('the sum of its victims’ priorities is the smallest')

  // The side panel shows the dry run of one candidate; the aftermath is below.
  await preemption.getByRole('button', { name: 'small-1', exact: true }).click()
  await expect(page).toHaveURL(/node=small-1/)
  await expect(page.getByTestId('candidate-detail')).toContainText(
    'With its 2 lower-priority pods removed, high passes Filter.'
  )
  const after = page.getByTestId('aftermath')
  await expect(after).toContainText('AssignedPodDelete default/low-3')
  await after.getByRole('button', { name: 'Attempt 2' }).click()
  await expect(page.getByTestId('explanation')).toContainText('high runs on small-2')
})

test('every extension point that ran shows its duration', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions/default/high`)
  const steps = page.getByRole('region', { name: 'Extension points' }).getByRole('button')
  for (const name of ['PreFilter', 'Filter', 'Bind'])
    await expect(steps.filter({ hasText: new RegExp(`^${name}`) }).first()).toContainText(/\d (µs|ms)/)
})

test('a node becomes ready when its virtual kubelet reports so, and a cordoned node is marked as cordoned', async ({
  page,
  simulator,
}) => {
  const silent = node('silent')
  await simulator.kube('POST', '/api/v1/nodes', { ...silent, status: { ...silent.status, conditions: [] } })
  const shut = node('shut')
  await simulator.kube('POST', '/api/v1/nodes', { ...shut, spec: { unschedulable: true } })
  await page.goto(simulator.url)
  await expect(page.locator('[data-node="shut"]')).toContainText('cordoned')
  await expect(page.locator('[data-node="silent"]')).not.toContainText('not ready')
  await page.goto(`${simulator.url}/resources/nodes`)
  await expect(page.locator('[data-key="silent"]')).toContainText(/Ready(?!,)/)
  await expect(page.locator('[data-key="shut"]')).toContainText('Ready,SchedulingDisabled')
})

test('without virtual kubelets, a node that reports no status is unknown, not unready', async ({ page }) => {
  const simulator = await Simulator.start(['--no-virtual-nodes'])
  try {
    const silent = node('silent')
    await simulator.kube('POST', '/api/v1/nodes', { ...silent, status: { ...silent.status, conditions: [] } })
    await page.goto(simulator.url)
    await expect(page.locator('[data-node="silent"]')).toBeVisible()
    await expect(page.locator('[data-node="silent"]')).not.toContainText('not ready')
    await page.goto(`${simulator.url}/resources/nodes`)
    await expect(page.locator('[data-key="silent"]')).toContainText('Unknown')
  } finally {
    await page.close() // its requests would fail when the server goes
    await simulator.stop()
  }
})

test('every page shows the warnings of the server for as long as they apply', async ({ page, simulator }) => {
  let warnings = ['results cannot be written to disk']
  await page.routeWebSocket(/\/api\/v1\/watch/, (socket) => {
    const server = socket.connectToServer()
    server.onMessage((message) => {
      const frame = JSON.parse(String(message)) as { id: string; items?: object[] }
      socket.send(
        frame.id === 'status'
          ? JSON.stringify({ ...frame, items: frame.items?.map((s) => ({ ...s, warnings })) })
          : message
      )
    })
  })
  for (const path of ['/', '/resources/nodes', '/decisions', '/scheduler']) {
    await page.goto(simulator.url + path)
    await expect(page.getByTestId('warnings')).toContainText('results cannot be written to disk')
  }
  warnings = []
  await page.reload()
  await expect(page.getByTestId('connection')).toContainText('live')
  await expect(page.getByTestId('warnings')).toHaveText('')
})
