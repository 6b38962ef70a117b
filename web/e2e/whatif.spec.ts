// Hypotheses: what makes a pod fit, tried and then applied for real; room for more; the shadow; the
// prediction while typing.

import type { Page } from '@playwright/test'
import { createYaml, nodeYaml, podYaml, replaceText, writeYaml } from './actions'
import { faults } from './boxes'
import { expect, node, pod, refused, test, type Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })

const nodeOf = async (simulator: Simulator, name: string) =>
  (await simulator.kube<{ spec: { nodeName?: string } }>('GET', `/api/v1/namespaces/default/pods/${name}`)).spec
    .nodeName
const packing = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
`

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

test(
  'a pending pod is made to fit: tried first, and then applied with one confirmed click',
  { tag: '@main' },
  async ({ page, simulator }) => {
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
  }
)

test('a hypothesis is shared as a link, edited and discarded', async ({ page, context, simulator }) => {
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('large', '64'))
  await page.goto(`${simulator.url}/decisions/default/large`)
  await expect(page.getByTestId('fit-panel').locator('[data-rank="1"]')).toBeVisible()
  await page.locator('[data-suppose="nodes"]').click()
  const dialog = page.getByRole('dialog', { name: 'What if there were more nodes?' })
  await dialog.getByTestId('suppose-try').click()
  await expect(dialog).toBeHidden()
  const chips = page.getByTestId('hypothesis-chip')
  await expect(chips).toHaveCount(1)

  const other = await context.newPage()
  await other.goto(page.url())
  await expect(other.getByTestId('hypothetical-bar')).toContainText('Hypothetical')
  await expect(other.getByTestId('hypothesis-chip')).toHaveCount(1)
  await other.close()

  await page.getByTestId('discard-hypothesis').click()
  await expect(chips).toHaveCount(0)
  await simulator.kube('DELETE', '/api/v1/namespaces/default/pods/large')
})

test(
  'room for more: how many fit, where, and how many nodes more would need',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await fill(simulator)
    await page.goto(`${simulator.url}/capacity?pod=default/web`)
    const answer = page.getByTestId('room-answer')
    await expect(answer).toContainText(/\d+ more web fits?/)
    await expect(page.getByTestId('hypothetical-bar')).toContainText('No pod is created.')
    await page.getByRole('combobox', { name: 'Node to copy' }).fill('tainted')
    await expect(page.getByTestId('nodes-needed')).toContainText('there is room for')
  }
)

test('a question that fails is told in whole', async ({ page, simulator, allowed }) => {
  allowed.push(refused(500))
  await fill(simulator)
  await page.route('**/api/v1/whatif/capacity', (route) =>
    route.fulfill({
      status: 500,
      json: { message: 'running a plugin: the claim is not there. '.repeat(12), details: [] },
    })
  )
  await page.goto(`${simulator.url}/capacity?pod=default/web`)
  await expect(page.getByTestId('question-failed')).toContainText('the claim is not there')
  await expect(page.getByTestId('room-answer')).toHaveCount(0)
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    expect(await faults(page)).toEqual([])
  }
})

test('a shadow judges each decision, and a draft the last ones', { tag: '@main' }, async ({ page, simulator }) => {
  await fill(simulator)
  await page.goto(`${simulator.url}/scheduler`)
  const editor = page.getByRole('textbox', { name: 'KubeSchedulerConfiguration as YAML' })
  await expect(editor).toContainText('KubeSchedulerConfiguration')
  await replaceText(page, editor, packing)
  await expect(page.getByTestId('verdict')).toContainText('Valid.')
  await expect(page.getByTestId('draft-judged')).toContainText(/would go elsewhere|would go to the same node/)
  await page.getByText('Judge live decisions with it, too').click()
  await page.getByTestId('shadow-set').click()
  await expect(page.getByTestId('shadow-panel')).toContainText('A shadow configuration has judged every decision')
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('judged', '100m'))
  await expect(page.getByTestId('shadow-judged')).toContainText(/Of 1 decisions, \d would differ\./)
  await page.getByTestId('shadow-stop').click()
  await expect(page.getByTestId('shadow-panel')).toContainText('No shadow configuration.')
})

test('while a pod is typed, a strip says where it would go, and the map follows', async ({ page, simulator }) => {
  await fill(simulator)
  await page.goto(simulator.url)
  await expect(page.locator('[data-node="small"]')).toBeVisible()
  await writeYaml(page, podYaml('typed'))
  const strip = page.getByTestId('prediction')
  await expect(strip).toContainText('typed would go to small.')
  await expect(page.locator('[data-node="small"] .ghost')).toContainText('typed')
  const text = page.getByRole('textbox', { name: 'Objects to create, as YAML' })
  await replaceText(page, text, podYaml('typed').replace('500m', '"64"'))
  await expect(strip).toContainText('would stay pending:')
  await expect(page.locator('[data-node] .ghost')).toHaveCount(0)
  await page.keyboard.press('Escape')
})

test('the palette asks about a pod', async ({ page, simulator }) => {
  await createYamlOnce(page, simulator)
  for (const [words, url] of [
    ['Make pod fit', /\/decisions\/default\/stuck/],
    ['Room for more', /\/capacity\?pod=default(?:\/|%2F)stuck/],
  ] as const) {
    await page.goto(`${simulator.url}/decisions/default/stuck`)
    await expect(page.getByTestId('fit-panel')).toBeVisible()
    await page.keyboard.press('Control+k')
    await page.keyboard.type(words)
    await page.keyboard.press('Enter')
    await page.keyboard.type('stuck')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(url)
  }
})

async function createYamlOnce(page: Page, simulator: Simulator): Promise<void> {
  await page.goto(simulator.url)
  await createYaml(page, `${nodeYaml('third')}---\n${podYaml('stuck').replace('500m', '"64"')}`)
}
