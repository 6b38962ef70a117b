// Import, export and reset as a user performs them, and other pages meanwhile.

import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { nodeYaml, podYaml } from './actions'
import { objections } from './axe'
import { expect, inWorkspace, node, pod, test, workspaceErrors } from './simulator'

test.describe.configure({ mode: 'serial' })

const open = async (page: Page, entry: string) => {
  await page.getByTestId('transfer').getByRole('button').first().click()
  await page.getByRole('menuitem', { name: entry }).click()
}
const file = (name: string, text: string) => ({ name, mimeType: 'application/yaml', buffer: Buffer.from(text) })
const broken = `apiVersion: v1
kind: Pod
metadata:
  name: no-containers
spec:
  containers: []
`
const configuration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: imported
`

test(
  'files are previewed and imported, and each rejection is listed',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await page.goto(simulator.url)
    await open(page, 'Import a cluster')
    const dialog = page.getByRole('dialog', { name: 'Import a cluster' })
    await expect(dialog.getByTestId('import-start')).toBeDisabled()
    await dialog
      .getByTestId('import-files')
      .setInputFiles([
        file('nodes.yaml', nodeYaml('n1') + '---\n' + nodeYaml('n2')),
        file('pods.yaml', podYaml('p1') + '---\n' + broken),
        file('scheduler.yaml', configuration),
      ])
    await expect(dialog.getByTestId('import-look')).toContainText('Node 2')
    await expect(dialog.getByTestId('import-look')).toContainText('Pod 2')
    await expect(dialog.getByTestId('import-look')).toContainText('scheduler configuration')
    await expect(dialog.getByTestId('import-look')).not.toContainText('could not be read here')
    await dialog.getByTestId('import-start').click()

    const summary = dialog.getByTestId('import-summary')
    await expect(summary.getByRole('status').first()).toContainText('1 rejected', { timeout: 30_000 })
    await expect(summary.getByRole('grid')).toContainText('no-containers')
    await expect(summary.getByRole('grid')).toContainText('Required value')
    await expect(summary.getByRole('row', { name: /^Node 2/ })).toBeVisible()
    await summary.getByRole('searchbox').fill('nothing of the kind')
    await expect(summary).toContainText('Nothing matches')
    expect(await objections(page, { within: 'dialog[open]' })).toEqual([])
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
    await expect(page.locator('[data-node="n1"]')).toBeVisible()
    await expect(page.locator('[data-node="n2"]')).toBeVisible()
  }
)

test('files dropped on the window can be imported, and a file without objects is explained', async ({
  page,
  simulator,
}) => {
  await page.goto(simulator.url)
  await expect(page.locator('[data-node="n1"]')).toBeVisible()
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['just: words\n'], 'notes.yaml', { type: 'text/yaml' }))
    return data
  })
  await page.locator('main').dispatchEvent('dragover', { dataTransfer: dropped })
  await expect(page.getByText('Drop to import')).toBeVisible()
  await page.locator('main').dispatchEvent('drop', { dataTransfer: dropped })
  const dialog = page.getByRole('dialog', { name: 'Import a cluster' })
  await expect(dialog).toContainText('notes.yaml')
  await dialog.getByTestId('import-start').click()
  await expect(dialog.getByRole('alert').or(dialog.getByTestId('import-summary'))).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
})

test('a file is imported into a workspace, and nothing changes here', async ({ page, simulator, allowed }) => {
  test.setTimeout(150_000)
  allowed.push(...workspaceErrors)
  const here = async () => (await simulator.send('GET', '/api/v1/export')).text()
  const before = await here()
  await page.goto(simulator.url)
  await open(page, 'Import a cluster')
  const dialog = page.getByRole('dialog', { name: 'Import a cluster' })
  const input = dialog.getByTestId('import-files')
  const start = dialog.getByTestId('import-start')

  // What cannot be read leaves no workspace.
  await input.setInputFiles([file('notes.yaml', 'just: words\n')])
  await expect(dialog.getByRole('radio', { name: 'In a new workspace' })).toBeChecked()
  expect(await objections(page, { within: 'dialog[open]' })).toEqual([])
  await start.click()
  await expect(dialog.getByRole('alert')).toContainText('nothing could be imported', { timeout: 90_000 })
  expect(await simulator.call('GET', '/api/v1/branches')).toEqual({ items: [] })
  await page.keyboard.press('Escape')

  // A new workspace asks for its file in the same dialog.
  await page.getByTestId('workspace-switcher').click()
  await page.getByTestId('workspace-new').click()
  await page.getByTestId('workspace-title').fill('Tuesday’s')
  await page.getByText('A file', { exact: true }).click()
  await page.getByTestId('workspace-create').click()
  await expect(dialog.getByTestId('import-title')).toHaveValue('Tuesday’s')
  await input.setInputFiles([file('production.yaml', nodeYaml('theirs') + '---\n' + podYaml('their-pod'))])
  await start.click()
  const workspace = await inWorkspace(page, '/import')
  await expect(page.getByTestId('branch-band')).toContainText('Tuesday’s')
  await page.getByRole('navigation').getByRole('link', { name: 'Cluster' }).click()
  await expect(page.locator('[data-node="theirs"]')).toBeVisible({ timeout: 30_000 })
  await expect(async () => {
    expect(await workspace.call('GET', '/api/v1/import')).toMatchObject({ state: 'finished', report: { created: 2 } })
  }).toPass()
  expect(await here()).toBe(before)
  await simulator.send('DELETE', `/api/v1/branches/${workspace.url.split('/').at(-1)}`)
})

test('an export can be downloaded and imported again in place of everything', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await open(page, 'Export the cluster')
  const dialog = page.getByRole('dialog', { name: 'Export the cluster' })
  await expect(dialog).toContainText(`curl -fsS -o cluster.yaml '${simulator.url}/api/v1/export?format=yaml'`)
  expect(await objections(page, { within: 'dialog[open]' })).toEqual([])
  const [download] = await Promise.all([page.waitForEvent('download'), dialog.getByTestId('export-download').click()])
  const text = readFileSync(await download.path(), 'utf8')
  expect(text).toContain('kind: Node')
  expect(text).toContain('name: n1')
  await dialog.getByRole('button', { name: 'Close' }).first().click()

  await simulator.kube('POST', '/api/v1/nodes', node('later'))
  await expect(page.locator('[data-node="later"]')).toBeVisible()
  await open(page, 'Import a cluster')
  const again = page.getByRole('dialog', { name: 'Import a cluster' })
  await again.getByTestId('import-files').setInputFiles([file('cluster.yaml', text)])
  await again.getByText('Replace this cluster').click()
  await expect(again).toContainText(/3 nodes, \d+ pods? and every decision will be deleted/)
  await again.getByRole('button', { name: 'Empty and import' }).click()
  await expect(again.getByTestId('import-summary')).toBeVisible({ timeout: 60_000 })
  await again.getByRole('button', { name: 'Close', exact: true }).last().click()
  await expect(page.locator('[data-node="n1"]')).toBeVisible()
  await expect(page.locator('[data-node="later"]')).toHaveCount(0)
})

test('Kubernetes’ default can place the pods of an import instead of what somebody applied', async ({
  page,
  simulator,
}) => {
  await simulator.configure(
    'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 70\n'
  )
  await page.goto(simulator.url)
  await open(page, 'Import a cluster')
  const dialog = page.getByRole('dialog', { name: 'Import a cluster' })
  await dialog.getByTestId('import-files').setInputFiles([file('node.yaml', nodeYaml('by-default'))])
  await expect(dialog.getByTestId('placed-by')).toContainText('percentageOfNodesToScore')
  await dialog.getByText('Merge into this cluster').click()
  await dialog.getByTestId('by-default').check()
  await dialog.getByTestId('import-start').click()
  await expect(dialog.getByTestId('import-summary')).toBeVisible({ timeout: 60_000 })
  expect(await (await simulator.send('GET', '/api/v1/schedulerconfiguration')).text()).not.toContain('70')
})

test('an import continues without its dialog and after a reload, and can be stopped', async ({ page, simulator }) => {
  test.setTimeout(120_000)
  const many = Array.from({ length: 4000 }, (_, i) => JSON.stringify(pod(`many-${i}`, '1m')))
  await page.goto(simulator.url)
  await open(page, 'Import a cluster')
  const dialog = page.getByRole('dialog', { name: 'Import a cluster' })
  await dialog.getByTestId('import-files').setInputFiles([file('many.yaml', many.join('\n---\n'))])
  await dialog.getByText('Merge into this cluster').click()
  await dialog.getByTestId('import-start').click()
  await expect(dialog.getByTestId('import-progress')).toBeVisible()
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  await expect(page.getByTestId('operation')).toContainText('Importing')
  await page.reload()
  await expect(page.getByTestId('operation')).toContainText('Importing')
  await page.getByTestId('operation').click()
  await dialog.getByTestId('import-stop').click()
  await expect(dialog).toContainText('The import was stopped', { timeout: 30_000 })
  await page.keyboard.press('Escape')
})

for (const language of ['ja', 'en']) {
  test(
    `a reset lists what it deletes, and every page becomes empty without a reload (${language})`,
    { tag: language === 'en' ? '@main' : [] },
    async ({ page, simulator }) => {
      test.setTimeout(90_000)
      await page.addInitScript((value) => localStorage.setItem('language', value), language)
      await simulator.kube('POST', '/api/v1/nodes', node('to-go'))
      await simulator.ready('to-go')
      await page.goto(`${simulator.url}/decisions`)
      await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('to-go'))
      await expect(page.getByRole('grid')).toContainText('to-go')
      await open(page, language === 'en' ? 'Reset' : 'リセット')
      const dialog = page.getByRole('dialog', {
        name: language === 'en' ? 'Reset the simulator?' : 'シミュレーターをリセットしますか？',
      })
      await expect(dialog).toContainText(language === 'en' ? 'decision' : '決定')
      expect(await objections(page, { within: 'dialog[open]' })).toEqual([])
      const word = dialog.getByRole('textbox')
      if (await word.isVisible()) {
        await expect(dialog.getByTestId('reset-confirm')).toBeDisabled()
        await word.fill('reset')
      }
      await dialog.getByTestId('reset-confirm').click()
      await expect(dialog).toBeHidden({ timeout: 60_000 })
      await expect(page.getByText(language === 'en' ? 'No decisions yet' : '決定はまだありません')).toBeVisible()
      await page.getByRole('navigation').getByRole('link').nth(1).click()
      await expect(page.getByText(language === 'en' ? 'No nodes yet' : 'ノードがまだありません')).toBeVisible()
    }
  )
}
