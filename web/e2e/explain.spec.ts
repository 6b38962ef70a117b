// Each number of a decision explains itself: the panel of a cell, and hints on headings.

import type { Page } from '@playwright/test'
import { objections } from './axe'
import { expect, node, pod, test, type Simulator } from './simulator'

test.describe.configure({ mode: 'serial' })

interface Cycle {
  selectedNode: string
  filter: {
    comparisons?: {
      node: string
      plugin: string
      resources?: { name: string; requested: number; inUse: number; allocatable: number }[]
    }[]
  }
  score: {
    plugins: { name: string; weight: number }[]
    nodes: string[]
    raw: number[][]
    normalized: number[][]
    weighted: number[][]
    facts: { nodes: string[]; plugins: { plugin: string }[] }
  }
}

/** The record of a pod's newest attempt. */
async function record(simulator: Simulator, name: string): Promise<Cycle> {
  const [newest] = (
    await simulator.call<{ items: { pod: { uid: string }; attempt: number }[] }>(
      'GET',
      `/api/v1/results?namespace=default&name=${name}&limit=1`
    )
  ).items
  return simulator.call('GET', `/api/v1/results/${newest?.pod.uid}/${newest?.attempt}`)
}

const panel = (page: Page) => page.getByTestId('cell-panel')
const number = (text: string) => Number(text.replace('−', '-').replaceAll(',', ''))

test('a cluster in which plugins have something to score', { tag: '@main' }, async ({ simulator }) => {
  const spread = {
    topologyKey: 'kubernetes.io/hostname',
    maxSkew: 1,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: { app: 'web' } },
  }
  const term = { topologyKey: 'topology.kubernetes.io/zone', labelSelector: { matchLabels: { app: 'cache' } } }
  for (const [i, zone] of ['a', 'a', 'b'].entries()) {
    const made = node(`node-${i}`, {
      cpu: String(8 + 4 * i),
      labels: { 'topology.kubernetes.io/zone': zone, disk: i ? 'ssd' : 'hdd' },
    })
    await simulator.kube('POST', '/api/v1/nodes', {
      ...made,
      spec: i === 2 ? { taints: [{ key: 'spot', effect: 'PreferNoSchedule' }] } : {},
    })
  }
  await simulator.ready('node-0', 'node-1', 'node-2')
  const put = async (name: string, app: string, spec: object, cpu: string) => {
    const made = pod(name, cpu)
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', {
      ...made,
      metadata: { ...made.metadata, labels: { app } },
      spec: { ...made.spec, ...spec },
    })
  }
  await put('cache', 'cache', { nodeName: 'node-0' }, '1')
  await put('web-0', 'web', { nodeName: 'node-1' }, '1500m')
  const affinity = {
    podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 50, podAffinityTerm: term }] },
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 30, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } },
      ],
    },
  }
  await expect
    .poll(
      async () =>
        (await simulator.kube<{ spec: { nodeName?: string } }>('GET', '/api/v1/namespaces/default/pods/web-0')).spec
          .nodeName
    )
    .toBe('node-1')
  await put('web-1', 'web', { affinity, topologySpreadConstraints: [spread] }, '500m')
  await expect
    .poll(
      async () =>
        (await simulator.call<{ items: { outcome: string }[] }>('GET', '/api/v1/results?namespace=default&name=web-1'))
          .items[0]?.outcome
    )
    .toBe('scheduled')
  await put('big', 'big', {}, '64')
})

test('the panel of every Score cell leads to the recorded numbers', { tag: '@main' }, async ({ page, simulator }) => {
  const { score } = await record(simulator, 'web-1')
  await page.goto(`${simulator.url}/decisions/default/web-1`)
  const table = page.getByTestId('score-table')
  let explained = 0
  for (const [row, name] of score.nodes.entries()) {
    for (const [column, { name: plugin, weight }] of score.plugins.entries()) {
      await table.locator(`[data-node="${name}"] [data-plugin="${plugin}"]`).click()
      await expect(panel(page)).toHaveAttribute('data-shown', 'score')
      await expect(panel(page)).toContainText(`${plugin}`)
      await expect(panel(page)).toContainText(`scored ${name}`)
      const [raw, normalized, weighted] = [
        score.raw[row]?.[column],
        score.normalized[row]?.[column],
        score.weighted[row]?.[column],
      ]
      expect(number((await page.getByTestId('cell-raw').locator('b').textContent()) ?? '')).toBe(raw)
      await expect(page.getByTestId('cell-weighted')).toHaveText(`${normalized} × ${weight} = ${weighted}`)
      expect(score.facts.plugins.map((p) => p.plugin)).toContain(plugin)
      const steps = await page.getByTestId('cell-arithmetic').locator('li').allTextContents()
      expect(steps.length).toBeGreaterThan(0)
      // The last number of the arithmetic is the recorded one; the way to the normalized score names it, too.
      expect(number(steps.at(-1)?.match(/[−\d]\d*(?=\D*$)/)?.[0] ?? '')).toBe(raw)
      await expect(page.getByTestId('cell-normalization')).toContainText(String(normalized))
      explained++
    }
  }
  expect(explained).toBeGreaterThanOrEqual(3 * 6)
})

test('the arithmetic of NodeResourcesFit has the values of the node', async ({ page, simulator }) => {
  const { score } = await record(simulator, 'web-1')
  await page.goto(`${simulator.url}/decisions/default/web-1?node=node-1&plugin=NodeResourcesFit&table=score`)
  const raw = score.raw[score.nodes.indexOf('node-1')]?.[score.plugins.findIndex((p) => p.name === 'NodeResourcesFit')]
  const steps = page.getByTestId('cell-arithmetic').locator('li')
  await expect(steps.first()).toHaveText('cpu: 1.5 in use + 0.5 requested = 2; 100 × (12 − 2) / 12 = 83')
  await expect(steps.last()).toContainText(`= ${raw}`)
  await expect(panel(page).getByRole('link', { name: 'Kubernetes documentation' })).toHaveAttribute(
    'href',
    /^https:\/\/kubernetes\.io\/docs\//
  )
  await expect(page).toHaveURL(/table=score/)
  // The same plugin's Filter cell is one click away.
  await panel(page).getByRole('button', { name: 'Filter' }).click()
  await expect(panel(page)).toContainText('let node-1 through in Filter')
  expect(await objections(page)).toEqual([])
})

test('the panel of a Filter cell computes what the node lacks', { tag: '@main' }, async ({ page, simulator }) => {
  await expect.poll(async () => (await record(simulator, 'big')).filter.comparisons?.length).toBe(3)
  const { filter } = await record(simulator, 'big')
  await page.goto(`${simulator.url}/decisions/default/big`)
  await page.getByTestId('filter-matrix').locator('[data-node="node-0"] [data-plugin="NodeResourcesFit"]').click()
  const cpu = filter.comparisons?.find((c) => c.node === 'node-0')?.resources?.find((r) => r.name === 'cpu')
  if (!cpu) throw new Error('nothing was compared')
  const cores = (milli: number) => String(milli / 1000)
  await expect(page.getByTestId('cell-comparison')).toContainText(
    `cpu: ${cores(cpu.inUse)} in use + ${cores(cpu.requested)} requested = ${cores(cpu.inUse + cpu.requested)}` +
      ` of ${cores(cpu.allocatable)}, ${cores(cpu.inUse + cpu.requested - cpu.allocatable)} short`
  )
  await expect(page.getByTestId('cell-about')).toContainText('Rejects nodes whose allocatable resources')
})

test('headings explain themselves to pointer, keyboard and finger', async ({ browser, page, simulator }) => {
  const url = `${simulator.url}/decisions/default/web-1?node=node-1&plugin=NodeResourcesFit&table=score`
  await page.goto(url)
  const table = page.getByTestId('score-table')
  const hint = page.getByTestId('hint')
  await table
    .getByRole('columnheader', { name: /^TaintToleration/ })
    .getByRole('button')
    .hover()
  await expect(hint).toContainText('Counts the PreferNoSchedule taints')
  // The pointer can go onto the hint.
  await hint.hover()
  await expect(hint).toBeVisible()
  await page.mouse.move(0, 0)
  await expect(hint).toHaveCount(0)

  await table.getByRole('button', { name: 'What the numbers mean' }).focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Shift+Tab')
  await expect(hint).toContainText('Normalized: the raw score on a scale from 0 to 100')
  await page.keyboard.press('Escape')
  await expect(hint).toHaveCount(0)
  await expect(panel(page)).toBeVisible()

  const context = await browser.newContext({ hasTouch: true, viewport: { width: 820, height: 1180 } })
  const finger = await context.newPage()
  await finger.goto(url)
  await finger.getByTestId('score-table').getByRole('button', { name: 'vs. best' }).tap()
  await expect(finger.getByTestId('hint')).toContainText('behind the highest total')
  await finger.getByTestId('cell-about').tap()
  await expect(finger.getByTestId('hint')).toHaveCount(0)
  await context.close()
})

test('the steps of the pipeline do not overlap, and hold their values, at any width', async ({ page, simulator }) => {
  for (const language of ['en', 'ja']) {
    await page.addInitScript((l) => localStorage.setItem('language', l), language)
    for (const name of ['web-1', 'big']) {
      await page.goto(`${simulator.url}/decisions/default/${name}`)
      await expect(page.locator('.pipe .st').first()).toBeVisible()
      for (const width of [2560, 1920, 1440, 1280, 1180, 1024, 960, 900, 800, 721, 390]) {
        await page.setViewportSize({ width, height: 900 })
        const wrong = await page.locator('.pipe').evaluate((pipe) => {
          const steps = [...pipe.querySelectorAll<HTMLElement>('.st')]
          const boxes = steps.map((s) => s.getBoundingClientRect())
          const said = (i: number) => steps[i]?.textContent?.trim() ?? ''
          const out: string[] = []
          boxes.forEach((a, i) =>
            boxes.slice(i + 1).forEach((b, j) => {
              if (
                Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1
              )
                out.push(`${said(i)} overlaps ${said(i + 1 + j)}`)
            })
          )
          // The name and the value of a step are inside its box; a long node name may be cut.
          steps.forEach((step, i) => {
            for (const part of step.querySelectorAll<HTMLElement>('b, .v:not(.named)')) {
              const range = document.createRange()
              range.selectNodeContents(part)
              if (range.getBoundingClientRect().right > (boxes[i]?.right ?? 0) + 1)
                out.push(`${part.textContent} exceeds its step`)
            }
          })
          return out
        })
        expect(wrong, `${name} at ${width} in ${language}`).toEqual([])
      }
    }
  }
})
