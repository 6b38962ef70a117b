// The tables of a decision at their design size: 5,000 nodes × 20 plugins.

import type { Page } from '@playwright/test'
import type { Cycle } from '../src/api/types'
import { medianFrame, quietest } from './measure'
import { expect, test } from './simulator'

const nodes = Array.from({ length: 5000 }, (_, i) => `node-${i}`).sort()
const plugins = Array.from({ length: 20 }, (_, p) => (p === 7 ? 'NodeResourcesFit' : `Plugin${p}`))

/**
 * A third of the nodes are feasible and scored by twenty plugins; each of the others is rejected by
 * one plugin.
 */
function largeCycle(): Cycle {
  const fits = (i: number) => i % 3 === 0
  const feasible = nodes.filter((_, i) => fits(i))
  const weighted = feasible.map((_, i) => plugins.map((_, p) => (i * 31 + p * 17) % 101))
  const totals = weighted.map((row) => row.reduce((a, b) => a + b, 0))
  const rejections = plugins.map((plugin, p) => {
    const rejected = nodes.filter((_, i) => !fits(i) && i % 20 === p).length
    return { plugin, nodes: rejected, reasons: [{ reason: 'Insufficient cpu', nodes: rejected }] }
  })
  const best = feasible[totals.indexOf(Math.max(...totals))] ?? ''
  return {
    pod: { namespace: 'default', name: 'large', uid: 'large-uid' },
    attempt: 1,
    profile: 'default-scheduler',
    startTime: '2026-01-01T10:00:00Z',
    durationSeconds: 0.05,
    outcome: 'scheduled',
    selectedNode: best,
    nodes: { total: nodes.length, evaluated: nodes.length, feasible: feasible.length },
    extensionPoints: [{ name: 'filter', durationSeconds: 0.02 }],
    filter: {
      plugins,
      nodes,
      states: nodes.map((_, i) => (fits(i) ? 'P'.repeat(20) : 'P'.repeat(i % 20) + 'R' + 'N'.repeat(19 - (i % 20)))),
      reasons: nodes.flatMap((node, i) =>
        fits(i) ? [] : [{ node, plugin: plugins[i % 20] ?? '', reasons: ['Insufficient cpu'] }]
      ),
    },
    score: {
      plugins: plugins.map((name) => ({ name, weight: 1 })),
      nodes: feasible,
      raw: weighted,
      normalized: weighted,
      weighted,
      totals,
    },
    explanation: {
      sentence: '',
      headline: { kind: 'unscored', pod: 'large', node: best, feasible: feasible.length },
      rejections,
    },
  }
}

async function serve(page: Page) {
  const cycle = largeCycle()
  const summary = Object.fromEntries(
    Object.entries(cycle).filter(([key]) => !['filter', 'score', 'explanation', 'extensionPoints'].includes(key))
  )
  await page.route('**/api/v1/results/large-uid', (route) => route.fulfill({ json: { items: [summary] } }))
  await page.route('**/api/v1/results/large-uid/1', (route) => route.fulfill({ json: cycle }))
}

// A trace takes a screenshot of each frame, which would distort the measurement.
test.use({ trace: 'off' })

test('a Filter matrix of 5,000 × 20 appears within half a second of its data and responds at once', async ({
  page,
  simulator,
}) => {
  await serve(page)
  await page.addInitScript(() => {
    const started = ((window as unknown as { __matrix: { shown?: number } }).__matrix = {} as { shown?: number })
    new MutationObserver(() => {
      // Drawn, not only in the document: after the frame in which the first cell appeared.
      if (started.shown === undefined && document.querySelector('[data-testid="filter-matrix"] [data-state]')) {
        started.shown = 0
        requestAnimationFrame(() => setTimeout(() => (started.shown = performance.now())))
      }
    }).observe(document, { childList: true, subtree: true })
  })
  await page.goto(`${simulator.url}/decisions/default/large?uid=large-uid`)
  const matrix = page.getByTestId('filter-matrix')
  // Not expect, which reads the whole page while it waits.
  await page.waitForFunction(() => (window as unknown as { __matrix: { shown?: number } }).__matrix.shown)
  const waited = await page.evaluate(() => {
    const entry = performance
      .getEntriesByType('resource')
      .find((e) => e.name.endsWith('/results/large-uid/1')) as PerformanceResourceTiming
    return (window as unknown as { __matrix: { shown: number } }).__matrix.shown - entry.responseEnd
  })
  console.log(`matrix shown ${Math.round(waited)} ms after its data`)
  expect(waited).toBeGreaterThan(0)
  expect(waited).toBeLessThan(500)
  // Rows far from the viewport are not in the document.
  expect(await matrix.locator('[data-node]').count()).toBeLessThan(80)

  // Show only nodes that NodeResourcesFit rejected; the URL keeps the choice.
  await matrix.getByLabel('Show nodes').selectOption('by:NodeResourcesFit')
  await expect(matrix).toHaveAttribute('data-rows', String(nodes.filter((_, i) => i % 3 && i % 20 === 7).length))
  await expect(page).toHaveURL(/show=by:NodeResourcesFit/)
  await expect(matrix.locator('[data-fold] .why').first()).toContainText('NodeResourcesFit')
  await matrix.getByLabel('Show nodes').selectOption('all')
  await matrix.getByPlaceholder('Filter by node or reason').fill('node-42')
  await expect(matrix).toHaveAttribute('data-rows', String(nodes.filter((n) => n.includes('node-42')).length))
  await expect(page).toHaveURL(/find=node-42/)
  await matrix.getByPlaceholder('Filter by node or reason').fill('')
  await matrix.getByRole('columnheader', { name: 'Reason' }).getByRole('button').click()
  await expect(matrix.locator('[data-node]').first()).toHaveClass(/chosen/)

  const table = page.getByTestId('score-table')
  await table
    .getByRole('columnheader', { name: /NodeResourcesFit/ })
    .getByRole('button')
    .click()
  await expect(table.locator('[data-node]').first().locator('[data-plugin="NodeResourcesFit"] .w')).toHaveText('100')
  await expect(page).toHaveURL(/by=NodeResourcesFit/)
})

test('the tables of 5,000 × 20 scroll at 60 frames per second', async ({ page, simulator }) => {
  await serve(page)
  await page.goto(`${simulator.url}/decisions/default/large?uid=large-uid&sort=node`)
  for (const table of ['filter-matrix', 'score-table']) {
    const rows = page.getByTestId(table).locator('.rows.boxed')
    await expect(rows).toBeVisible()
    // 6,000 px per second, a strong flick of the wheel.
    const { median, late } = await quietest(rows, { by: 100 })
    console.log(`scrolling ${table}: median frame ${median.toFixed(1)} ms, 95th percentile ${late.toFixed(1)} ms`)
    expect(median).toBeLessThanOrEqual(medianFrame)
  }
})

test('the reasons of 5,000 nodes unfold by keyboard, and for a link to a cell', async ({ page, simulator }) => {
  await serve(page)
  const decision = `${simulator.url}/decisions/default/large?uid=large-uid`
  await page.goto(decision)
  const matrix = page.getByTestId('filter-matrix')
  const grid = matrix.getByRole('treegrid')
  const lines = matrix.locator('.rows').getByRole('row')
  // The chosen node, those with its total, the other feasible ones, and what each plugin rejected.
  await expect(lines.first()).toHaveClass(/chosen/)
  await expect(matrix.locator('[data-reason="feasible"]')).toHaveCount(1)
  await expect(matrix.locator('[data-reason="rejected"]')).toHaveCount(20)
  const first = matrix.locator('[data-reason="rejected"]').first()
  await expect(first).toHaveAttribute('aria-expanded', 'false')
  await grid.focus()
  await page.keyboard.press('ArrowDown')
  await expect(page).toHaveURL(/node=node-.*plugin=/)
  const above = await lines.evaluateAll((rows) => rows.findIndex((row) => row.dataset.reason === 'rejected'))
  for (let row = 0; row < above; row++) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(first).toHaveAttribute('aria-expanded', 'true')
  await page.keyboard.press('ArrowDown')
  const below = (await lines.nth(above + 1).getAttribute('data-node')) ?? '?'
  await expect(page.getByTestId('cell-panel')).toContainText(below)
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowLeft')
  await expect(first).toHaveAttribute('aria-expanded', 'false')
  await expect(grid).toBeFocused()

  // A node near the end of its reason.
  const node = nodes.filter((_, i) => i % 3 && i % 20 === 7).at(-3) ?? ''
  await page.goto(`${decision}&node=${node}&plugin=NodeResourcesFit&table=filter`)
  await expect(matrix.locator(`[data-node="${node}"] [data-plugin="NodeResourcesFit"]`)).toBeInViewport()
})

test('a list of 10,000 objects scrolls at 60 frames per second', async ({ page, simulator }) => {
  const rows = Array.from({ length: 10_000 }, (_, i) => ({
    cells: [`settings-${i}`, i % 7, '1m'],
    object: {
      metadata: {
        name: `settings-${i}`,
        namespace: `team-${i % 9}`,
        uid: `u${i}`,
        creationTimestamp: '2026-01-01T10:00:00Z',
        labels: { app: 'web' },
      },
    },
  }))
  const columnDefinitions = ['Name', 'Data', 'Age'].map((name) => ({
    name,
    type: name === 'Data' ? 'integer' : 'string',
    description: '',
    priority: 0,
  }))
  await page.route('**/kubernetes/api/v1/configmaps?*', (route) =>
    // A watch without events stays open.
    route.request().url().includes('watch=1')
      ? undefined
      : route.fulfill({
          json: {
            kind: 'Table',
            apiVersion: 'meta.k8s.io/v1',
            metadata: { resourceVersion: '1' },
            columnDefinitions,
            rows,
          },
        })
  )
  await page.goto(`${simulator.url}/resources/configmaps`)
  await expect(page.locator('[data-key]').first()).toBeVisible()
  const { median, late } = await quietest(page.getByRole('grid'), { by: 600 })
  console.log(`scrolling a list: median frame ${median.toFixed(1)} ms, 95th percentile ${late.toFixed(1)} ms`)
  expect(median).toBeLessThanOrEqual(medianFrame)
})
