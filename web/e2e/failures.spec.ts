// Actions on nodes: failures on demand, cordon, drain and deletion.

import { objections } from './axe'
import { expect, node, pod, refused, test } from './simulator'

test.describe.configure({ mode: 'serial' })

test(
  'making a node unreachable explains the consequences, and the node recovers',
  { tag: '@main' },
  async ({ page, simulator }) => {
    for (const name of ['n1', 'n2']) await simulator.kube('POST', '/api/v1/nodes', node(name))
    await simulator.ready('n1', 'n2')
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', {
      ...pod('web'),
      spec: { ...pod('web').spec, nodeName: 'n1' },
    })
    await page.goto(simulator.url)
    const card = page.locator('[data-node="n1"]')
    await expect(card).toContainText('web')
    await card.getByRole('button', { name: 'Actions for n1' }).click()
    const menu = page.getByTestId('object-menu')
    await expect(menu.getByRole('menuitem').first()).toBeFocused()
    expect(await objections(page, { within: '[data-testid="object-menu"]' })).toEqual([])
    await menu.getByRole('menuitem', { name: 'Make unreachable' }).click()
    const dialog = page.getByRole('dialog', { name: 'Make n1 unreachable?' })
    await expect(dialog).toContainText('1 pod is evicted after 5m, unless the node recovers first.')
    expect(await objections(page, { within: 'dialog[open]' })).toEqual([])
    await dialog.getByTestId('change-apply').click()
    await expect(card).toContainText('failing: unreachable')

    await card.click({ button: 'right' })
    await expect(menu.getByRole('menuitem', { name: 'Make unreachable' })).toHaveCount(0)
    await menu.getByRole('menuitem', { name: 'Recover' }).click()
    await page.getByTestId('change-apply').click()
    await expect(card).not.toContainText('failing')
  }
)

test('the keyboard cordons a node in the table of nodes', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/resources/nodes`)
  const row = page.locator('[data-key="n2"]')
  await row.getByRole('button', { name: 'Actions for n2' }).click()
  await expect(page.getByTestId('object-menu').getByRole('menuitem').first()).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('End')
  await page.keyboard.press('Escape')
  await expect(page.getByTestId('object-menu')).toHaveCount(0)
  await row.click({ button: 'right' })
  await page.getByTestId('object-menu').getByRole('menuitem', { name: 'Cordon' }).press('Enter')
  const dialog = page.getByTestId('change-dialog')
  await expect(dialog.getByTestId('trial')).toContainText('The API server accepts this change.')
  await expect(dialog.getByTestId('yaml-diff')).toContainText('unschedulable: true')
  await dialog.getByTestId('change-apply').click()
  await expect(row).toContainText('SchedulingDisabled')
})

test('a drain evicts pods as budgets allow, retries the others, and can be stopped', async ({
  page,
  simulator,
  allowed,
}) => {
  allowed.push(refused(429))
  const labelled = (name: string) => ({
    ...pod(name),
    metadata: { name, namespace: 'default', labels: { app: 'guarded' } },
    spec: { ...pod(name).spec, nodeName: 'n1' },
  })
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', labelled('guarded'))
  await simulator.kube('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    metadata: { name: 'guard' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
  })
  await expect(async () => {
    const { status } = await simulator.kube<{ status?: { expectedPods?: number } }>(
      'GET',
      '/apis/policy/v1/namespaces/default/poddisruptionbudgets/guard'
    )
    expect(status?.expectedPods).toBe(1)
  }).toPass()
  await page.goto(`${simulator.url}/resources/nodes?select=n1`)
  await page.getByTestId('object-actions').click()
  await page.getByTestId('object-menu').getByRole('menuitem', { name: 'Drain' }).click()
  const dialog = page.getByTestId('drain-dialog')
  await expect(dialog).toContainText('2 pods to evict')
  await expect(dialog).toContainText('2 pods without a controller')
  await dialog.getByTestId('change-apply').click()
  await expect(dialog).toContainText('1 of 2 evicted')
  await expect(dialog).toContainText('The disruption budget guard')
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await expect(dialog.getByRole('alert')).toContainText('was stopped: 1 of 2 pods evicted')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await expect(page.locator('[data-key="n1"]')).toContainText('SchedulingDisabled')

  // It is one step of the time line, and one undo.
  await page.goto(`${simulator.url}/timeline`)
  await expect(page.getByTestId('steps').getByRole('button').first()).toContainText('Drained Node n1')
  await expect(page.getByTestId('steps').getByRole('button').filter({ hasText: 'Drained' })).toHaveCount(1)
  await page.getByTestId('undo').click()
  await expect(page.getByTestId('undo-dialog')).toContainText('Undo “Drained Node n1”?')
  await page.keyboard.press('Escape')
})

test('several nodes can be deleted at once, in Japanese', async ({ page, simulator }) => {
  await page.addInitScript(() => localStorage.setItem('language', 'ja'))
  await page.goto(`${simulator.url}/resources/nodes`)
  await page.locator('[data-key="n1"]').getByRole('checkbox').check()
  await page.locator('[data-key="n2"]').getByRole('checkbox').check()
  await page.getByRole('button', { name: '操作', exact: true }).first().click()
  await page.getByTestId('object-menu').getByRole('menuitem', { name: '削除' }).click()
  const dialog = page.getByTestId('change-dialog')
  await expect(dialog).toContainText('2 ノード を削除しますか')
  await dialog.getByTestId('change-apply').click()
  await expect(page.locator('[data-key="n1"]')).toHaveCount(0)
  await expect(page.locator('[data-key="n2"]')).toHaveCount(0)
})
