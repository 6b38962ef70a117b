// The list of decisions searches everything that the server keeps, not only the newest
// decisions, which the socket sends; and two decisions of any pods are compared.

import type { Page } from '@playwright/test'
import { expect, node, pod, test } from './simulator'
import type { Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })

/** More than the 500 newest decisions that the socket sends. */
const crowd = 620

async function createCrowd(simulator: Simulator): Promise<void> {
  const names = Array.from({ length: crowd }, (_, i) => `crowd-${String(i).padStart(4, '0')}`)
  while (names.length)
    await Promise.all(
      names.splice(0, 31).map((name) => simulator.kube('POST', '/api/v1/namespaces/default/pods', pod(name, '1m')))
    )
}

const kept = async (simulator: Simulator, query = ''): Promise<number> => {
  const { counts } = await simulator.call<{ counts: { matching: number } }>(
    'GET',
    `/api/v1/results?counts=true&limit=1${query}`
  )
  return counts.matching
}

const rows = (page: Page) => page.getByRole('grid', { name: 'Decisions' })
const facet = (page: Page, name: string, value: RegExp) =>
  page.getByRole('region', { name, exact: true }).getByRole('button', { name: value })
const find = (page: Page) => page.getByPlaceholder('Search by pod')

test('a decision that is older than the newest 500 is found', { tag: '@main' }, async ({ page, simulator }) => {
  const amounts = { cpu: '64', memory: '512Gi', pods: '2000' }
  await simulator.kube('POST', '/api/v1/nodes', {
    ...node('roomy'),
    status: { ...node('roomy').status, capacity: amounts, allocatable: amounts },
  })
  await simulator.kube('POST', '/api/v1/nodes', node('tainted', { taint: true }))
  await simulator.ready('roomy')
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('first-of-all'))
  await expect(async () => expect(await kept(simulator, '&q=first-of-all&outcome=scheduled')).toBe(1)).toPass()
  await createCrowd(simulator)
  await expect(async () => expect(await kept(simulator, '&outcome=scheduled')).toBe(crowd + 1)).toPass()
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('too-big', '900'))
  await expect(async () => expect(await kept(simulator, '&q=too-big')).toBeGreaterThan(0)).toPass()

  await page.goto(`${simulator.url}/decisions`)
  await expect(page.getByTestId('loaded')).toContainText(/^200 of 6\d\d matching decisions loaded/)
  await find(page).fill('first-of-all')
  await expect(rows(page).getByRole('row', { name: /first-of-all/ })).toHaveCount(1)
  await expect(page.getByTestId('loaded')).toContainText('1 of 1 matching decision loaded')
  // The link keeps the search.
  await expect(page).toHaveURL(/q=first-of-all/)
  await page.reload()
  await expect(rows(page).getByRole('row', { name: /first-of-all/ })).toHaveCount(1)
})

test('older decisions load on demand, each once', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions?outcome=scheduled`)
  for (const loaded of [401, 601, crowd + 2]) {
    await page.getByRole('button', { name: 'Load older' }).click()
    await expect(rows(page)).toHaveAttribute('aria-rowcount', String(loaded))
  }
  await expect(page.getByRole('button', { name: 'Load older' })).toBeHidden()
  const { items } = await simulator.call<{ items: object[] }>('GET', '/api/v1/results?outcome=scheduled&limit=5000')
  expect(items).toHaveLength(crowd + 1)
})

test('the decisions that rejected a node are found, also those that placed their pod', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions?rejectedOn=tainted&plugin=TaintToleration`)
  await expect(page.getByTestId('loaded')).toContainText('200 found in the newest')
  await expect(page.getByRole('button', { name: 'Remove the filter Rejected node: tainted' })).toBeVisible()
  await page.getByRole('button', { name: 'Search older ones' }).click()
  await expect(rows(page)).toHaveAttribute('aria-rowcount', '401')
  await page.goto(`${simulator.url}/decisions?rejectedOn=roomy`)
  await expect(
    rows(page)
      .getByRole('row', { name: /too-big/ })
      .first()
  ).toBeVisible()
  await expect(rows(page).getByRole('row', { name: /crowd/ })).toHaveCount(0)
  await page.goto(`${simulator.url}/decisions?rejectedOn=roomy&plugin=TaintToleration`)
  await expect(page.getByText('No decisions match.')).toBeVisible()
})

test('facets count all that match, and narrow the search', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions`)
  await expect(facet(page, 'Outcome', /^scheduled/)).toContainText(String(crowd + 1))
  await facet(page, 'Rejecting plugin', /^TaintToleration/).click()
  await expect(page).toHaveURL(/plugin=TaintToleration/)
  await expect(
    rows(page)
      .getByRole('row', { name: /too-big/ })
      .first()
  ).toBeVisible()
  await expect(facet(page, 'Outcome', /^scheduled/)).toHaveCount(0)
  await page.getByRole('button', { name: 'Remove the filter Rejecting plugin: TaintToleration' }).click()
  await facet(page, 'Node selected or nominated', /^roomy/).click()
  await expect(page.getByTestId('loaded')).toContainText(`of ${crowd + 1} matching`)
})

test('new decisions that match arrive, and others do not', { tag: '@main' }, async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions?q=newcomer`)
  await expect(page.getByText('No decisions match.')).toBeVisible()
  await expect(page.getByText(/covers all 6\d\d decisions that the simulator keeps/)).toBeVisible()
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('bystander', '1m'))
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('newcomer', '1m'))
  await expect(rows(page).getByRole('row', { name: /newcomer/ })).toHaveCount(1)
  await expect(rows(page)).toHaveAttribute('aria-rowcount', '2')
})

test('a range of time narrows the search', async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions`)
  await page.getByRole('combobox', { name: 'Time range' }).selectOption('Last 5 minutes')
  await expect(page).toHaveURL(/last=5m/)
  await expect(page.getByTestId('loaded')).toContainText(/200 of 6\d\d/)
  await page.goto(`${simulator.url}/decisions?until=2020-01-01T00:00:00Z`)
  await expect(page.getByText('No decisions match.')).toBeVisible()
})

test('two decisions of different pods are compared, from the list', { tag: '@main' }, async ({ page, simulator }) => {
  await page.goto(`${simulator.url}/decisions?sort=pod`)
  await find(page).fill('newcomer')
  await rows(page)
    .getByRole('row', { name: /newcomer/ })
    .getByRole('checkbox')
    .check()
  await expect(page.getByTestId('compare-two')).toBeDisabled()
  await find(page).fill('too-big')
  await rows(page)
    .getByRole('row', { name: /too-big/ })
    .first()
    .getByRole('checkbox')
    .check()
  await page.getByTestId('compare-two').click()

  const facts = page.getByTestId('compare-facts')
  await expect(facts.locator('[data-fact="outcome"]')).toContainText(/scheduled\s*unschedulable/)
  await expect(facts.locator('[data-fact="node"]')).toContainText(/roomy\s*none/)
  await expect(page.locator('[data-side="A"]')).toContainText('newcomer')
  const nodes = page.getByRole('grid', { name: 'Differences' })
  await expect(nodes.getByRole('row', { name: /roomy/ })).toContainText(/feasible.*NodeResourcesFit Insufficient cpu/)
  await expect(nodes.getByRole('row', { name: /tainted/ })).toHaveCount(0)
  await page.getByRole('group', { name: 'Rows' }).getByRole('button', { name: 'All' }).click()
  await expect(nodes.getByRole('row', { name: /tainted/ })).toContainText('TaintToleration')

  await page.getByRole('button', { name: 'Swap' }).click()
  await expect(page.locator('[data-side="A"]')).toContainText('too-big')
  await page.reload()
  await expect(page.getByTestId('compare-facts').locator('[data-fact="outcome"]')).toContainText(
    /unschedulable\s*scheduled/
  )
})

test('a pod is compared with its replacement, from its decision', async ({ page, simulator }) => {
  const labels = { app: 'web' }
  await simulator.kube('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'web' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pod('web', '1m').spec },
    },
  })
  interface Decided {
    pod: { name: string; uid: string }
  }
  const decided = async (count: number) => {
    let items: Decided[] = []
    await expect(async () => {
      items = (
        await simulator.call<{ items: Decided[] }>('GET', '/api/v1/results?owner=Deployment/web&outcome=scheduled')
      ).items
      expect(items).toHaveLength(count)
    }).toPass()
    return items
  }
  const [replaced] = await decided(1)
  await simulator.kube('DELETE', `/api/v1/namespaces/default/pods/${replaced?.pod.name}?gracePeriodSeconds=0`)
  const [replacement] = await decided(2)

  await page.goto(`${simulator.url}/decisions/default/${replaced?.pod.name}?uid=${replaced?.pod.uid}`)
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByRole('menuitem', { name: /With the next pod of Deployment web/ }).click()
  await expect(page.locator('[data-side="A"]')).toContainText(replaced?.pod.name ?? '')
  await expect(page.locator('[data-side="B"]')).toContainText(replacement?.pod.name ?? '')
  await expect(page.getByTestId('compare-facts').locator('[data-fact="node"]')).toContainText(/roomy\s*roomy/)

  // Any other decision: the list asks for it.
  await page.goBack()
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByRole('menuitem', { name: 'With any decision' }).click()
  await expect(page.getByText('Choose the decision to compare with.')).toBeVisible()
  await find(page).fill('too-big')
  await rows(page)
    .getByRole('row', { name: /too-big/ })
    .first()
    .click()
  await expect(page.locator('[data-side="B"]')).toContainText('too-big')
})

test('on a phone the list shows each outcome', async ({ page, simulator }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${simulator.url}/decisions?q=too-big`)
  const row = rows(page)
    .getByRole('row', { name: /too-big/ })
    .first()
  const outcome = row.getByTitle('unschedulable')
  await expect(outcome).toBeInViewport()
  const box = await rows(page).evaluate((grid) => [grid.scrollWidth, grid.clientWidth])
  expect(box[0]).toBeLessThanOrEqual(box[1] ?? 0)
})
