// The connection to the server across a restart.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, node, pod, serverAway, Simulator, test } from './simulator'

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
