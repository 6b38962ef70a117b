// The connection to the server across a restart.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, node, pod, refused, serverAway, Simulator, test } from './simulator'

test.use({ preloads: true })

test('the page survives a restart of the server and shows new objects', { tag: '@main' }, async ({ page, allowed }) => {
  allowed.push(serverAway)
  const dir = await mkdtemp(join(tmpdir(), 'simulator-e2e-'))
  const first = await Simulator.start(['--data-dir', dir])
  let second: Simulator | undefined
  try {
    await first.kube('POST', '/api/v1/nodes', node('before'))
    await page.goto(first.url)
    const connection = page.getByTestId('connection')
    await expect(connection).toContainText('live')
    await expect(page.locator('[data-node="before"]')).toBeVisible()

    await first.stop()
    await expect(connection).toContainText('reconnecting')
    // The page keeps the old state and says that it is old.
    await expect(page.locator('[data-node="before"]')).toBeVisible()
    await expect(page.getByText('The connection to the simulator was lost')).toBeVisible()

    second = await Simulator.start(['--data-dir', dir, '--listen', `127.0.0.1:${first.port}`])
    await expect(connection).toContainText('live', { timeout: 20_000 })
    await second.kube('POST', '/api/v1/nodes', node('after'))
    await second.kube('POST', '/api/v1/namespaces/default/pods', pod('later'))
    await expect(page.locator('[data-node="after"]')).toBeVisible()
    await expect(page.getByRole('button', { name: /later/ }).first()).toBeVisible()
  } finally {
    await first.stop()
    await second?.stop()
    await rm(dir, { recursive: true, force: true })
  }
})

test('places that were never visited open while the server is away, and say so', async ({ page, allowed }) => {
  allowed.push(serverAway, refused(503))
  const dir = await mkdtemp(join(tmpdir(), 'simulator-e2e-'))
  const first = await Simulator.start(['--data-dir', dir])
  let second: Simulator | undefined
  try {
    await first.kube('POST', '/api/v1/nodes', node('kept'))
    await page.goto(first.url)
    await expect(page.locator('[data-node="kept"]')).toBeVisible()
    // Every part arrives while the page is idle.
    const parts = await readdir('dist/assets')
    const missing = () =>
      page.evaluate((names) => {
        const loaded = performance.getEntriesByType('resource').map((entry) => entry.name)
        return names.filter((name) => !loaded.some((url) => url.endsWith(`/${name}`)))
      }, parts)
    await expect.poll(missing, { timeout: 30_000 }).toEqual([])
    await first.stop()
    await expect(page.getByTestId('connection')).toContainText('reconnecting')

    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog', { name: 'Create' })
    await expect(dialog.getByRole('textbox', { name: 'Objects to create, as YAML' })).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(dialog).toBeHidden()
    await page.keyboard.press('Control+k')
    await expect(page.getByTestId('palette').getByRole('combobox')).toBeFocused()
    await page.keyboard.type('>')
    await expect(page.getByTestId('palette').getByRole('option', { name: 'Taint node…' })).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page.getByTestId('palette')).toBeHidden()
    for (const [key, name] of [
      ['r', 'Resources'],
      ['d', 'Decisions'],
      ['a', 'Events'],
      ['s', 'Scheduler'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      const view = page.getByRole('navigation', { name: /^Questions of/ }).getByRole('link', { name, exact: true })
      await expect(view).toHaveAttribute('aria-current', 'page')
      await expect(page.getByText('The connection to the simulator was lost')).toBeVisible()
    }
    await expect(page.getByTestId('scheduler-phase')).toContainText('Simulator unreachable')

    // The Scheduler page goes through the restart without an error of its own.
    second = await Simulator.start(['--data-dir', dir, '--listen', `127.0.0.1:${first.port}`])
    await expect(page.getByTestId('scheduler-phase')).toContainText('Scheduler running', { timeout: 20_000 })
    await expect(page.getByTestId('effective-settings')).toBeVisible()
  } finally {
    await first.stop()
    await second?.stop()
    await rm(dir, { recursive: true, force: true })
  }
})
