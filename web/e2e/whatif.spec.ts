// Hypotheses: what makes a pod fit, tried and then applied for real.

import type { Page } from '@playwright/test'
import { expect, node, pod, test, type Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })

const nodeOf = async (simulator: Simulator, name: string) =>
  (await simulator.kube<{ spec: { nodeName?: string } }>('GET', `/api/v1/namespaces/default/pods/${name}`)).spec.nodeName

/** Two nodes: one is small, and the other is tainted. */
async function fill(simulator: Simulator): Promise<void> {
  const { items } = await simulator.kube<{ items: object[] }>('GET', '/api/v1/nodes')
  if (items.length) return
  await simulator.kube('POST', '/api/v1/nodes', node('small', { cpu: '2' }))
  await simulator.kube('POST', '/api/v1/nodes', node('tainted', { taint: true }))
  await simulator.ready('small')
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('web', '4'))
}

async function tryFirst(page: Page, simulator: Simulator): Promise<void> {
  await page.goto(`${simulator.url}/decisions/default/web`)
  const first = page.getByTestId('fit-panel').locator('[data-rank="1"]')
  await expect(first).toContainText('Tolerate')
  await first.getByTestId('try').click()
  await expect(page.getByTestId('hypothesis-chip').first()).toBeVisible()
}

test('a pending pod is made to fit: tried first, and then applied with one confirmed click', { tag: '@main' }, async ({ page, simulator }) => {
  await fill(simulator)
  await tryFirst(page, simulator)
  const band = page.getByTestId('hypothetical-bar')
  await expect(band).toContainText('Hypothetical')
  await expect(band).toContainText('Nothing in the cluster has changed.')
  await expect(page.getByRole('main')).toContainText('tainted')
  expect(await nodeOf(simulator, 'web')).toBeUndefined()

  await page.getByTestId('apply-hypothesis-open').click()
  const dialog = page.getByTestId('apply-hypothesis')
  await expect(dialog).toContainText('The API server accepts each change in a dry run.')
  await dialog.getByTestId('apply-hypothesis-confirm').click()
  await expect(dialog).toBeHidden()
  await expect.poll(() => nodeOf(simulator, 'web')).toBe('tainted')
  await expect(band).toBeHidden()
})
