// A server that hangs keeps its sockets open; the page says that it is not responding.

import { expect, node, Simulator, test } from './simulator'

test('the page distinguishes a hanging server from a quiet one', async ({ page }) => {
  const simulator = await Simulator.start()
  try {
    await simulator.kube('POST', '/api/v1/nodes', node('before'))
    await page.clock.install()
    await page.goto(simulator.url)
    const connection = page.getByTestId('connection')
    await expect(page.locator('[data-node="before"]')).toBeVisible()
    await expect(connection).toContainText('live')
    simulator.signal('SIGSTOP')
    // The page pings after ten quiet seconds and waits four seconds for the answer.
    await page.clock.fastForward(11_000)
    await page.clock.fastForward(5_000)
    await expect(connection).toContainText('not responding')
    await expect(page.getByText('The simulator is not responding')).toBeVisible()
    simulator.signal('SIGCONT')
    await expect(connection).toContainText('live', { timeout: 15_000 })
    await expect(page.getByText('The simulator is not responding')).toBeHidden()
  } finally {
    simulator.signal('SIGCONT')
    await page.close() // its requests would fail when the server goes
    await simulator.stop()
  }
})
