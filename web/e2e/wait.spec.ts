// What only the passing of time changes is counted down, and need not be waited for.

import { choose } from './actions'
import { expect, node, pod, refused, test } from './simulator'

test.describe.configure({ mode: 'serial' })

test('a pod that waits for an event is tried now', async ({ page, simulator }) => {
  await simulator.kube('POST', '/api/v1/nodes', node('n1'))
  await simulator.ready('n1')
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('big', '64'))
  await page.goto(`${simulator.url}/decisions/default/big`)
  const wait = page.getByTestId('wait')
  await expect(wait).toContainText(/Without one, next attempt in 4:\d\d/)
  await expect(page.getByRole('button', { name: 'Attempt 2' })).toHaveCount(0)
  await wait.getByRole('button', { name: 'Try now' }).click()
  await expect(page.getByText('The scheduler tries big now.')).toBeVisible()
  const attempts = async () =>
    (await simulator.call<{ items: { attempt: number }[] }>('GET', '/api/v1/results?name=big')).items.map(
      (s) => s.attempt
    )
  await expect(async () => expect(await attempts()).toEqual([2, 1])).toPass()
  await expect(wait).toContainText(/Without one, next attempt in (4:5\d|5:00)/)
})

test('a pod of a failed node is evicted now, as taint eviction would later', async ({ page, simulator, allowed }) => {
  // The panel may ask for the pod once more when it is gone already.
  allowed.push(refused(404))
  const labels = { app: 'web' }
  const running = async () =>
    (
      await simulator.kube<{ items: { metadata: { name: string; uid: string }; spec: { nodeName?: string } }[] }>(
        'GET',
        '/api/v1/namespaces/default/pods?labelSelector=app%3Dweb'
      )
    ).items
  await simulator.kube('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod('web').spec } },
  })
  await expect(async () =>
    expect((await running()).filter(({ spec }) => spec.nodeName === 'n1')).toHaveLength(2)
  ).toPass()
  // If all nodes of a zone fail, Kubernetes evicts nothing.
  for (const name of ['n2', 'n3']) await simulator.kube('POST', '/api/v1/nodes', node(name))
  await simulator.ready('n2', 'n3')
  await page.goto(`${simulator.url}/resources/nodes?select=n1`)
  const wait = page.getByTestId('wait')
  await expect(page.getByTestId('object-detail')).toBeVisible()
  await expect(wait).toHaveCount(0)
  await page.getByTestId('object-actions').click()
  await choose(page, 'notReady')
  await page.getByTestId('change-apply').click()
  await expect(wait).toContainText(/2 pods will be evicted, the first in 4:\d\d/, { timeout: 20_000 })

  const before = (await running()).map(({ metadata }) => metadata.uid)
  const [first] = await running()
  await page.goto(`${simulator.url}/resources/pods?select=default/${first?.metadata.name}`)
  await expect(wait).toContainText(
    /Evicted in 4:\d\d: the pod tolerates the taint node.kubernetes.io\/not-ready:NoExecute of its node for 5m/
  )
  await wait.getByRole('button', { name: 'Evict now…' }).click()
  const dialog = page.getByTestId('change-dialog')
  await expect(dialog).toContainText('as the taint eviction controller would delete it later')
  await expect(dialog.getByTestId('trial')).toContainText('The API server accepts this change.')
  await page.getByTestId('change-apply').click()
  await expect(dialog).toBeHidden()
  // Its controller replaces it, and the other pod of the node still waits.
  await expect(async () => {
    const now = await running()
    expect(now.map(({ metadata }) => metadata.uid)).not.toContain(first?.metadata.uid)
    expect(now.filter(({ metadata }) => before.includes(metadata.uid))).toHaveLength(1)
    expect(now).toHaveLength(2)
  }).toPass({ timeout: 20_000 })
})
