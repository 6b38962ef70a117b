// Acting where one looks: from a decision, a node, a workload and the palette; every change shows
// its dry run and can be undone.

import type { Page } from '@playwright/test'
import { choose } from './actions'
import { objections } from './axe'
import { expect, node, pod, refused, test } from './simulator'

test.describe.configure({ mode: 'serial' })

async function openPalette(page: Page) {
  await page.keyboard.press('Control+k')
  await expect(page.getByTestId('palette').getByRole('combobox')).toBeFocused()
}

const blue = { key: 'team', value: 'blue', effect: 'NoSchedule' }

test(
  'a taint that rejects a pod is removed from its decision, and the pod is scheduled',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await simulator.kube('POST', '/api/v1/nodes', { ...node('only'), spec: { taints: [blue] } })
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('stuck'))
    await page.goto(`${simulator.url}/decisions/default/stuck`)
    await expect(page.getByTestId('explanation')).toContainText('stuck fits no node')
    await page.getByTestId('filter-matrix').locator('[data-node="only"] [data-plugin="TaintToleration"]').click()
    const side = page.getByTestId('decision-side')
    await expect(side.getByRole('link', { name: 'only' })).toBeVisible()
    await side.getByRole('button', { name: 'Actions for only' }).click()
    await choose(page, 'taint')

    const dialog = page.getByTestId('change-dialog')
    await expect(dialog).toContainText('team=blue:NoSchedule')
    await expect(dialog.getByTestId('change-apply')).toBeDisabled()
    await dialog.getByRole('checkbox', { name: /team=blue/ }).check()
    await expect(dialog.getByTestId('trial')).toContainText('The API server accepts this change.')
    await expect(dialog.getByTestId('yaml-diff')).toContainText('value: blue')
    expect(await objections(page, { within: 'dialog[open]' })).toEqual([])
    // A dry run changes nothing.
    expect(
      (await simulator.kube<{ spec: { taints: unknown[] } }>('GET', '/api/v1/nodes/only')).spec.taints
    ).toContainEqual(blue)
    await dialog.getByTestId('change-apply').click()
    await expect(dialog).toBeHidden()
    await expect(page.getByTestId('explanation')).toContainText('stuck runs on only', { timeout: 20_000 })

    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await expect(page.getByText('Undone: only')).toBeVisible()
    expect(
      (await simulator.kube<{ spec: { taints: unknown[] } }>('GET', '/api/v1/nodes/only')).spec.taints
    ).toContainEqual(blue)
    await simulator.kube('PATCH', '/api/v1/nodes/only', { spec: { taints: null } })
  }
)

test('a node in the matrix is a link, and its row has the menu of the node', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions/default/stuck`)
  const row = page.getByTestId('filter-matrix').locator('[data-node="only"]')
  await row.locator('[data-plugin]').first().click({ button: 'right' })
  await expect(page.getByTestId('object-menu')).toContainText('Show its pods')
  await page.keyboard.press('Escape')
  await row.getByRole('link', { name: 'only' }).click()
  await expect(page).toHaveURL(/\/resources\/nodes\?select=only/)
  await page.getByTestId('object-detail').getByRole('button', { name: 'Actions for only' }).click()
  await choose(page, 'pods')
  await expect(page).toHaveURL(/\/resources\/pods\?node=only/)
  await expect(page.locator('[data-key="default/stuck"]')).toBeVisible()
})

test('a pod shows its YAML beside its decision, and is recreated to be scheduled again', async ({
  page,
  simulator,
  allowed,
}) => {
  // The page may ask for the pod once more when it is gone already.
  allowed.push(refused(404))
  const uid = async () =>
    (await simulator.kube<{ metadata: { uid: string } }>('GET', '/api/v1/namespaces/default/pods/stuck')).metadata.uid
  const before = await uid()
  await page.goto(`${simulator.url}/decisions/default/stuck`)
  await page.getByRole('button', { name: 'YAML', exact: true }).click()
  await expect(page).toHaveURL(/yaml=1/)
  const detail = page.getByTestId('object-detail')
  await expect(detail).toContainText('registry.k8s.io/pause')
  await expect(page.getByTestId('filter-matrix')).toBeVisible()
  await detail.getByRole('button', { name: 'Actions for stuck' }).click()
  await choose(page, 'recreate')
  const dialog = page.getByTestId('change-dialog')
  await expect(dialog).toContainText('This cannot be undone.')
  await expect(dialog.getByTestId('yaml-diff')).toContainText('nodeName: only')
  await dialog.getByTestId('change-apply').click()
  await expect(dialog).toBeHidden()
  await expect.poll(uid).not.toBe(before)
  await expect(page.getByTestId('explanation')).toContainText('stuck runs on only', { timeout: 20_000 })
})

test('a deleted pod comes back on its node', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/?pod=default/stuck`)
  await page.locator('[data-node="only"]').getByRole('button', { name: 'stuck' }).click({ button: 'right' })
  await choose(page, 'delete')
  await page.getByTestId('change-apply').click()
  await expect(page.locator('[data-node="only"]').getByRole('button', { name: 'stuck', exact: true })).toHaveCount(0)
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await expect(page.locator('[data-node="only"]').getByRole('button', { name: 'stuck', exact: true })).toBeVisible()
})

test('a workload is scaled with its dry run, and restarted', async ({ page, simulator }) => {
  const labels = { app: 'web' }
  await simulator.kube('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'web' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '100m' } } }] },
      },
    },
  })
  await page.goto(simulator.url)
  const owner = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'web', exact: true }) })
  await expect(owner).toContainText('Deployment')
  await owner.getByRole('button', { name: 'Actions for web' }).click()
  await choose(page, 'scale')
  const dialog = page.getByTestId('change-dialog')
  await dialog.getByRole('spinbutton', { name: 'Replicas' }).fill('3')
  await expect(dialog.getByTestId('yaml-diff')).toContainText('replicas: 3')
  await page.keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  await expect(owner.getByRole('link', { name: '3', exact: true })).toBeVisible({ timeout: 20_000 })
  await owner.getByRole('link', { name: '3', exact: true }).click()
  await expect(page).toHaveURL(/owner=Deployment/)
  await expect(page.locator('[data-key^="default/web-"]')).toHaveCount(3)
  const names = () =>
    page.locator('[data-key^="default/web-"]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key')))
  const before = await names()

  await page.goto(`${simulator.url}/resources/deployments.apps?select=default/web`)
  await page.getByTestId('object-detail').getByRole('button', { name: 'Actions for web' }).click()
  await choose(page, 'restart')
  await expect(dialog.getByTestId('yaml-diff')).toContainText('kubectl.kubernetes.io/restartedAt')
  await dialog.getByTestId('change-apply').click()
  await expect(page.getByText('Restarting: web')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Undo', exact: true })).toHaveCount(0)
  await page.goto(`${simulator.url}/resources/pods?owner=Deployment/web`)
  await expect.poll(async () => (await names()).some((name) => before.includes(name)), { timeout: 30_000 }).toBe(false)
})

test(
  'the palette taints a node step by step, by keyboard alone, and the change is undone from the history',
  { tag: '@main' },
  async ({ page, simulator, allowed }) => {
    allowed.push(refused(422))
    const taints = async () =>
      (await simulator.kube<{ spec: { taints?: unknown[] } }>('GET', '/api/v1/nodes/only')).spec.taints ?? []
    await page.goto(simulator.url)
    await expect(page.locator('[data-node="only"]')).toBeVisible()
    await openPalette(page)
    const palette = page.getByTestId('palette')
    await page.keyboard.type('>')
    await expect(palette.getByRole('option', { name: 'Taint node…' })).toBeVisible()
    await expect(palette.getByRole('option', { name: /^Go to/ })).toHaveCount(0)
    await page.keyboard.type('taint')
    await page.keyboard.press('Enter')
    await expect(palette.getByRole('combobox')).toHaveAttribute('placeholder', 'a node')
    await page.keyboard.type('on')
    await page.keyboard.press('Enter')
    await page.keyboard.type('nonsense')
    await expect(palette).toContainText('“nonsense” is not valid here')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('team=green:NoSchedule')
    expect(await objections(page, { within: 'dialog[open]' })).toEqual([])
    await page.keyboard.press('Enter')
    const dialog = page.getByTestId('change-dialog')
    await expect(dialog.getByTestId('yaml-diff')).toContainText('value: green')
    await dialog.getByTestId('change-apply').press('Enter')
    await expect(dialog).toBeHidden()
    expect(await taints()).toContainEqual({ key: 'team', value: 'green', effect: 'NoSchedule' })

    await openPalette(page)
    await page.keyboard.type('your changes')
    await page.keyboard.press('Enter')
    const history = page.getByTestId('change-history')
    await expect(history).toContainText('Taints changed: only')
    expect(await objections(page, { within: 'dialog[open]' })).toEqual([])
    await history.getByRole('button', { name: 'Undo', exact: true }).press('Enter')
    await expect(history).toContainText('undone')
    expect(await taints()).toEqual([])
  }
)

test('undoing does not overwrite what another client changed since', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/resources/deployments.apps?select=default/web`)
  await page.getByTestId('object-detail').getByRole('button', { name: 'Actions for web' }).click()
  await choose(page, 'scale')
  const dialog = page.getByTestId('change-dialog')
  await dialog.getByRole('spinbutton').fill('2')
  await dialog.getByTestId('change-apply').click()
  await expect(page.getByText('Scaled: web')).toBeVisible()
  await simulator.kube('PATCH', '/apis/apps/v1/namespaces/default/deployments/web', { spec: { replicas: 4 } })
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await expect(page.getByText('web has changed since')).toBeVisible()
  const { spec } = await simulator.kube<{ spec: { replicas: number } }>(
    'GET',
    '/apis/apps/v1/namespaces/default/deployments/web'
  )
  expect(spec.replicas).toBe(4)
})

test('a change that the server refuses is not offered', async ({ page, simulator, allowed }) => {
  allowed.push(refused(422))
  await page.goto(`${simulator.url}/resources/nodes?select=only`)
  await page.getByTestId('object-detail').getByRole('button', { name: 'Actions for only' }).click()
  await choose(page, 'label')
  const dialog = page.getByTestId('change-dialog')
  await dialog.getByRole('textbox', { name: 'Key' }).fill('not a key')
  await expect(dialog.getByTestId('trial')).toContainText('The API server rejects this change')
  await expect(dialog.getByTestId('change-apply')).toBeDisabled()
  await dialog.getByRole('textbox', { name: 'Key' }).fill('tier')
  await dialog.getByRole('textbox', { name: 'Value' }).fill('web')
  await expect(dialog.getByTestId('yaml-diff')).toContainText('tier: web')
  await expect(dialog.getByTestId('change-apply')).toBeEnabled()
})

test('the palette shows decisions by plugin, and starts a draft with another weight', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await expect(page.locator('[data-node="only"]')).toBeVisible()
  await openPalette(page)
  await page.keyboard.type('rejected by')
  await page.keyboard.press('Enter')
  await page.keyboard.type('TaintTol')
  // The names of the plugins arrive from the server.
  await expect(page.getByTestId('palette').getByRole('option', { name: 'TaintToleration' })).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/decisions\?plugin=TaintToleration/)

  await openPalette(page)
  await page.keyboard.type('>weight')
  await page.keyboard.press('Enter')
  await page.keyboard.type('NodeAff')
  await expect(page.getByTestId('palette').getByRole('option', { name: 'NodeAffinity' })).toBeVisible()
  await page.keyboard.press('Enter')
  await page.keyboard.type('7')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/scheduler/)
  await expect(page.getByTestId('verdict')).toContainText('valid', { ignoreCase: true })
  await expect(page.getByRole('tabpanel', { name: 'Difference from running' })).toContainText(
    'plugins.score[NodeAffinity].weight'
  )
})

for (const language of ['en', 'ja']) {
  test(`the dialogs fit a phone (${language})`, async ({ page, simulator }) => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.addInitScript((value) => localStorage.setItem('language', value), language)
    await page.goto(`${simulator.url}/resources/nodes?select=only`)
    await page.getByTestId('object-detail').locator('[aria-haspopup="menu"]').first().click()
    for (const action of ['taint', 'label', 'drain']) {
      await page.locator(`[data-action="${action}"]`).click()
      const dialog = page.locator('dialog[open]')
      await expect(dialog.getByTestId('trial').or(dialog.locator('.lines')).first()).toBeVisible()
      const box = await dialog.boundingBox()
      expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true)
      expect(await dialog.evaluate((element) => element.scrollWidth <= element.clientWidth + 1)).toBe(true)
      expect(await objections(page, { within: 'dialog[open]' })).toEqual([])
      await page.keyboard.press('Escape')
      await expect(dialog).toBeHidden()
      await page.getByTestId('object-detail').locator('[aria-haspopup="menu"]').first().click()
    }
  })
}
