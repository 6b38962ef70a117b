// A server that hangs keeps its sockets open: the page says that nothing comes.

import { expect, node, Simulator, test } from './simulator'

test('a server that does not answer is told from one that is quiet', async ({ page }) => {
  const simulator = await Simulator.start()
  try {
    await simulator.kube('POST', '/api/v1/nodes', node('before'))
    await page.clock.install()
    await page.goto(simulator.url)
    const connection = page.getByTestId('connection')
    await expect(page.locator('[data-node="before"]')).toBeVisible()
    await expect(connection).toContainText('live')
    simulator.signal('SIGSTOP')
    // The page asks after ten quiet seconds, and gives the server four to answer.
    await page.clock.fastForward(11_000)
    await page.clock.fastForward(5_000)
    await expect(connection).toContainText('no answer')
    await expect(page.getByText('The simulator does not answer')).toBeVisible()
    simulator.signal('SIGCONT')
    await expect(connection).toContainText('live', { timeout: 15_000 })
    await expect(page.getByText('The simulator does not answer')).toBeHidden()
  } finally {
    simulator.signal('SIGCONT')
    await simulator.stop()
  }
})
