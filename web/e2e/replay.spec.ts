// One simulator replays a recording of another and compares the decisions.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { objections } from './axe'
import { expect, inWorkspace, node, pod, Simulator, test, workspaceErrors } from './simulator'

test.describe.configure({ mode: 'serial' })

const dir = mkdtempSync(join(tmpdir(), 'replay-'))
const recording = join(dir, 'cluster.rec')
test.afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('the record command writes a recording', { tag: '@main' }, async () => {
  test.setTimeout(120_000)
  const source = await Simulator.start(['--data-dir', join(dir, 'source')])
  try {
    for (const name of ['n1', 'n2']) await source.kube('POST', '/api/v1/nodes', node(name))
    await source.ready('n1', 'n2')
    const recorder = spawn(
      resolve(process.env.SIMULATOR_BIN ?? '../bin/simulator'),
      ['record', '--kubeconfig', join(dir, 'source', 'kubeconfig'), '--output', recording, '--qps', '50'],
      { stdio: 'ignore' }
    )
    await expect(() => expect(statSync(recording).size).toBeGreaterThan(0)).toPass({ timeout: 30_000 })
    for (let i = 0; i < 6; i++) {
      await source.kube('POST', '/api/v1/namespaces/default/pods', pod(`web-${i}`))
      await expect(async () => {
        const { spec } = await source.kube<{ spec: { nodeName?: string } }>(
          'GET',
          `/api/v1/namespaces/default/pods/web-${i}`
        )
        expect(spec.nodeName).toBeTruthy()
      }).toPass()
    }
    recorder.kill('SIGINT')
    await once(recorder, 'exit')
  } finally {
    await source.stop()
  }
})

test(
  'without a recording, the page says how to make one and accepts it',
  { tag: '@main' },
  async ({ page, simulator }) => {
    test.setTimeout(90_000)
    await simulator.kube('POST', '/api/v1/nodes', node('was-here'))
    await page.goto(`${simulator.url}/replay`)
    await expect(page.getByText('simulator record')).toBeVisible()
    await expect(page.getByTestId('replay-bar')).toHaveCount(0)

    // The page recognises a dropped recording by its content.
    const bytes = [...readFileSync(recording)]
    const dropped = await page.evaluateHandle((content) => {
      const data = new DataTransfer()
      data.items.add(new File([new Uint8Array(content)], 'cluster.rec'))
      return data
    }, bytes)
    await page.locator('main').dispatchEvent('drop', { dataTransfer: dropped })
    const dialog = page.getByRole('dialog', { name: 'Import a cluster' })
    await expect(dialog).toContainText('This is a recording')
    await dialog.getByText('Replace this cluster').click()
    await dialog.getByTestId('import-start').click()
    const bar = page.getByTestId('replay-bar')
    await expect(bar).toHaveAttribute('data-state', 'paused', { timeout: 60_000 })
  }
)

test('a replay plays to its end and compares every decision', { tag: '@main' }, async ({ page, simulator }) => {
  test.setTimeout(120_000)
  await page.goto(`${simulator.url}/replay`)
  const bar = page.getByTestId('replay-bar')
  await expect(bar).toHaveAttribute('data-state', 'paused')
  await bar.getByRole('button', { name: 'Next change' }).click()
  await expect(bar).toContainText(/[1-9]\d* of \d+ changes/)
  // Following the recording implies waiting, so the wait cannot be changed meanwhile.
  const follow = page.getByRole('checkbox', { name: 'Follow the recording' })
  const wait = bar.getByRole('checkbox', { name: 'Wait for the scheduler' })
  await follow.click()
  await expect(wait).toBeDisabled()
  await expect(wait).toBeChecked()
  await follow.click()
  await expect(wait).toBeEnabled()
  await bar.getByLabel('Speed').selectOption({ label: 'As fast as possible' })
  await bar.getByRole('button', { name: 'Play' }).click()
  await expect(bar).toHaveAttribute('data-state', 'finished', { timeout: 60_000 })
  await expect(page.getByText(/of 6 decisions match the recording/)).toBeVisible()
  await page.getByRole('button', { name: 'All', exact: true }).click()
  const table = page.getByRole('grid', { name: 'Decisions compared' })
  await expect(table.locator('[data-key]')).toHaveCount(6)
  await table.locator('[data-key]').first().getByRole('gridcell').first().click()
  expect(await objections(page)).toEqual([])
  await page.getByTestId('compared').getByRole('button', { name: 'Decision' }).click()
  await expect(page).toHaveURL(/\/decisions\/default\/web-\d/)
  await expect(page.getByTestId('filter-matrix')).toBeVisible()
  // Every page shows the transport.
  await expect(bar).toBeVisible()
})

test('the keyboard seeks in the recording, and the recording can be unloaded', async ({ page, simulator }) => {
  test.setTimeout(120_000)
  await page.addInitScript(() => localStorage.setItem('language', 'ja'))
  await page.goto(simulator.url)
  const bar = page.getByTestId('replay-bar')
  await expect(bar).toHaveAttribute('data-state', 'finished')
  const slider = bar.getByRole('slider')
  await slider.focus()
  await slider.press('Home')
  await expect(bar).toHaveAttribute('data-state', 'paused', { timeout: 60_000 })
  await expect(slider).toHaveValue('0')
  await bar.getByRole('button', { name: '記録を閉じる' }).click()
  await expect(bar).toHaveCount(0)
})

test('a recording is replayed in a workspace, and nothing changes here', async ({ page, simulator, allowed }) => {
  test.setTimeout(150_000)
  allowed.push(...workspaceErrors)
  await page.goto(`${simulator.url}/replay`)
  await page.getByTestId('recording-file').setInputFiles(recording)
  const dialog = page.getByRole('dialog', { name: 'Import a cluster' })
  await expect(dialog).toContainText('This is a recording')
  await dialog.getByText('In a new workspace').click()
  await dialog.getByTestId('import-title').fill('Tuesday')
  await dialog.getByTestId('import-start').click()
  await inWorkspace(page, '/replay')
  await expect(page.getByTestId('branch-band')).toContainText('Tuesday')
  await expect(page.getByTestId('replay-bar')).toHaveAttribute('data-state', 'paused')
  await expect(simulator.send('GET', '/api/v1/replay')).rejects.toThrow('404')
})
