// From YAML to a decision: rejected nodes, scores, retries, gates, and the list of decisions.

import { createYaml, nodeYaml, podYaml } from './actions'
import { expect, test } from './simulator'

test.describe.configure({ mode: 'serial' })

test('an empty cluster teaches the first step', async ({ page, simulator }) => {
  await page.goto(simulator.url)
  await expect(page.getByText('No nodes yet')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Create a sample cluster' })).toBeVisible()
  await expect(page.getByTestId('connection')).toContainText('live')
})

test(
  'of two nodes, the taint rejects one and the only feasible node is not scored',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await page.goto(simulator.url)
    await createYaml(page, `${nodeYaml('tainted', true)}---\n${nodeYaml('plain-1')}---\n${podYaml('first')}`)

    const chip = page.locator('[data-node="plain-1"]').getByRole('button', { name: 'first' })
    await expect(chip).toBeVisible()
    await chip.click()
    await expect(page.getByTestId('decision-bar')).toContainText('only feasible node')
    await expect(page.locator('[data-node="tainted"]')).toContainText('TaintToleration')
    await page.getByRole('link', { name: 'Open decision' }).click()

    await expect(page).toHaveURL(/\/decisions\/default\/first/)
    await expect(page.getByTestId('explanation')).toContainText('first runs on plain-1')
    const matrix = page.getByTestId('filter-matrix')
    const tainted = matrix.locator('[data-node="tainted"]')
    await expect(tainted.locator('[data-plugin="TaintToleration"]')).toHaveAttribute('data-state', 'R')
    await expect(tainted).toContainText('untolerated taint')
    await expect(matrix.locator('[data-node="plain-1"] [data-plugin="TaintToleration"]')).toHaveAttribute(
      'data-state',
      'P'
    )
    await expect(page.getByTestId('no-score')).toContainText(
      'Only one node was feasible, so the scheduler did not score.'
    )
  }
)

test(
  'with two feasible nodes, the scores add up, best first, and the chosen node is marked',
  { tag: '@main' },
  async ({ page, simulator }) => {
    await page.goto(simulator.url)
    await createYaml(page, nodeYaml('plain-2'))
    await simulator.ready('plain-1', 'plain-2')
    await createYaml(page, podYaml('second'))
    await page.goto(`${simulator.url}/decisions/default/second`)

    const table = page.getByTestId('score-table')
    const rows = table.locator('[data-node]')
    await expect(rows).toHaveCount(2)
    await expect(rows.first()).toContainText('chosen')
    // plain-1 already has a pod, so the scheduler chooses the emptier plain-2.
    await expect(rows.first()).toHaveAttribute('data-node', 'plain-2')
    const numbers = await rows.evaluateAll((elements) =>
      elements.map((row) => ({
        parts: [...row.querySelectorAll('[data-plugin] .w')].map((e) => Number(e.textContent)),
        total: Number(row.querySelector('.tot')?.textContent),
      }))
    )
    for (const { parts, total } of numbers) {
      expect(parts.length).toBeGreaterThan(3)
      expect(parts.reduce((a, b) => a + b, 0)).toBe(total)
    }
    expect(numbers[0]?.total).toBeGreaterThan(numbers[1]?.total ?? Infinity)
    await expect(table.locator('[data-node="plain-2"] [data-plugin="NodeResourcesFit"]')).toContainText('→')

    // Where the tables need the room, the side panel stands under them until a cell is chosen.
    const side = page.getByTestId('decision-side')
    const isBeside = async () => {
      const [tables, panel] = [await table.boundingBox(), await side.boundingBox()]
      return (panel?.x ?? 0) >= (tables?.x ?? 0) + (tables?.width ?? 0)
    }
    await expect.poll(isBeside).toBe(true)
    await page.setViewportSize({ width: 1280, height: 900 })
    await expect.poll(isBeside).toBe(false)

    // A cell shows its explanation by mouse and by keyboard, and the URL keeps the selection.
    await page.getByTestId('filter-matrix').locator('[data-node="tainted"] [data-plugin="TaintToleration"]').click()
    await expect(side).toContainText('rejected tainted in Filter')
    await expect.poll(isBeside).toBe(true)
    await expect(page).toHaveURL(/node=tainted&plugin=TaintToleration/)
    await page.getByRole('grid', { name: /^Filter/ }).focus()
    await page.keyboard.press('ArrowLeft')
    await expect(page.getByTestId('decision-side')).toContainText('let tainted through in Filter')
  }
)

test(
  'a pod that fits no node says so, and a new attempt appears without a reload',
  { tag: '@main' },
  async ({ page, simulator }) => {
    const { pod } = await import('./simulator')
    await simulator.kube('POST', '/api/v1/namespaces/default/pods', pod('big', '64'))
    await page.goto(`${simulator.url}/?pod=default/big`)
    await expect(page.getByTestId('decision-bar')).toContainText('fits no node')
    await expect(page.locator('[data-pod="default/big"]')).toContainText('Insufficient cpu')
    await expect(page.locator('[data-node].nearest')).toHaveCount(1)
    await page.goto(`${simulator.url}/decisions/default/big`)
    await expect(page.getByTestId('explanation')).toContainText('2 by NodeResourcesFit')
    await expect(page.getByTestId('no-score')).toContainText('No node was feasible')

    // The panel moves under the tables, but not while a dialog of it is open, which would not be modal there.
    await page.getByTestId('apply-suggestion').first().click()
    const dialog = page.getByRole('dialog')
    await expect(dialog).toBeVisible()
    const isModal = () => dialog.evaluate((one) => one.matches(':modal'))
    await page.setViewportSize({ width: 800, height: 900 })
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
    expect(await isModal()).toBe(true)
    await page.keyboard.press('Escape')
    await expect
      .poll(async () => {
        const [tables, side] = [page.getByTestId('filter-matrix'), page.getByTestId('decision-side')]
        return ((await side.boundingBox())?.y ?? 0) > ((await tables.boundingBox())?.y ?? 0)
      })
      .toBe(true)

    const { node } = await import('./simulator')
    await simulator.kube('POST', '/api/v1/nodes', node('huge', { cpu: '128' }))
    await expect(page.getByTestId('explanation')).toContainText('big runs on huge', { timeout: 20_000 })
    // Another attempt may fail while the node is not ready yet, so there are at least two.
    await expect(page.getByRole('navigation', { name: 'Attempts' })).toContainText(/Attempt ([2-9]) of \1/)
  }
)

test('a gated pod says how to release it, and is scheduled once its gates are removed', async ({ page, simulator }) => {
  const { pod } = await import('./simulator')
  const held = pod('held')
  await simulator.kube('POST', '/api/v1/namespaces/default/pods', {
    ...held,
    spec: { ...held.spec, schedulingGates: [{ name: 'example.com/quota' }, { name: 'example.com/review' }] },
  })
  await page.goto(`${simulator.url}/decisions/default/held`)
  const view = page.getByTestId('held')
  await expect(view).toContainText('held has not been tried: SchedulingGates holds it in PreEnqueue.')
  await expect(view).toContainText('kubectl --namespace default patch pod held')
  await view.getByRole('button', { name: 'Remove gate example.com/quota' }).click()
  await page.getByTestId('change-apply').click()
  await expect(view.getByRole('button', { name: /^Remove gate/ })).toHaveCount(1)
  await view.getByRole('button', { name: 'Remove gate example.com/review' }).click()
  await page.getByTestId('change-apply').click()
  await expect(page.getByTestId('explanation')).toContainText('held runs on')

  // The strip starts with PreEnqueue and the queue.
  const steps = page.getByRole('region', { name: 'Extension points' }).getByRole('button')
  await expect(steps.nth(0)).toContainText('PreEnqueue')
  await expect(steps.nth(1)).toContainText(/^Queue.*PrioritySort/)
  await steps.nth(1).click()
  await expect(page.getByTestId('stage-detail')).toContainText('The QueueSort plugin decides which pod is next')
})

test('a click copies the name of the pod', async ({ page, context, simulator }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`${simulator.url}/decisions/default/second`)
  await page.getByRole('button', { name: 'Copy pod name' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('second')
})
