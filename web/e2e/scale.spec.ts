// The map with 5,000 nodes and 10,000 pods: opening, a stream of changes, scrolling. It
// takes minutes, so it has its own command: npm run e2e:scale. With SIMULATOR_URL it
// measures a running simulator that is already filled.

import { expect, test } from '@playwright/test'
import { churn, load } from './load'
import { UnobservedPage, firstPaint, framesDrawn, heap, longTasks, medianFrame, quietest, scroll } from './measure'
import { Simulator } from './simulator'

const size = { nodes: 5000, pods: 10_000 }

// Recording a trace would distort the measurement.
test.use({ trace: 'off' })
let simulator: Simulator
const address = () => process.env.PAGE_URL ?? simulator.url

test.beforeAll(async () => {
  test.setTimeout(300_000)
  const running = process.env.SIMULATOR_URL
  simulator = running ? Simulator.attach(running) : await Simulator.start()
  if (!running) await load(simulator, size)
})
test.afterAll(() => simulator.stop())

test('the map opens, and takes a stream of changes', async ({ browser }) => {
  test.setTimeout(180_000)
  const page = await UnobservedPage.open(browser, address(), size.nodes)
  await expect.poll(() => page.evaluate(() => window.measured.shownAt !== undefined), { timeout: 30_000 }).toBe(true)
  const paint = await firstPaint(page)
  const shown = await page.evaluate(() => Math.round(window.measured.shownAt ?? Infinity))
  const opening = await page.evaluate(() => window.measured.longTasks)
  console.log(
    `first paint ${paint} ms, 5,000 tiles after ${shown} ms, long tasks meanwhile: ` +
      `${opening.map((t) => `${t.ms}@${t.start}`).join(', ') || 'none'}`
  )

  const stop = churn(simulator, { nodes: size.nodes, perSecond: 100 })
  const tasks = await longTasks(page, () => new Promise((resolve) => setTimeout(resolve, 10_000)))
  const changes = await stop()
  console.log(`${changes} changes in 10 s, long tasks: ${tasks.join(', ') || 'none'}`)
  await page.close()

  expect.soft(paint).toBeLessThanOrEqual(1000)
  expect.soft(shown).toBeLessThanOrEqual(2000)
  expect.soft(changes).toBeGreaterThan(900)
  expect.soft(tasks).toEqual([])
})

test('the map and the table scroll, and take little memory', async ({ page }) => {
  const session = await page.context().newCDPSession(page)
  await page.goto(address())
  await expect(page.locator(`[data-testid="tiles"][data-count="${size.nodes}"]`)).toBeVisible({ timeout: 30_000 })
  await page.setViewportSize({ width: 1000, height: 500 })
  const tiles = await framesDrawn(session, () => scroll(page, session, '[data-testid="tiles"]'))
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: 'Table' }).click()
  const table = await framesDrawn(session, () => scroll(page, session, '[role="table"]'))
  const used = Math.round((await heap(session)) / 2 ** 20)
  console.log(`scrolling: tiles ${tiles.toFixed(0)}, table ${table.toFixed(0)} frames/s; heap ${used} MiB`)

  expect.soft(tiles).toBeGreaterThanOrEqual(50)
  expect.soft(table).toBeGreaterThanOrEqual(50)
  expect.soft(used).toBeLessThan(400)
})

test('the map of 5,000 nodes keeps 60 frames per second while it scrolls and the pointer moves over it', async ({
  page,
}) => {
  // So small that the map does not fit: it has something to scroll.
  await page.setViewportSize({ width: 1000, height: 500 })
  await page.goto(address())
  const tiles = page.locator(`[data-testid="tiles"][data-count="${size.nodes}"]`)
  await expect(tiles).toBeVisible({ timeout: 30_000 })
  const around = page.locator('[data-testid="tiles"], :has([data-testid="tiles"])')
  const at = await around.evaluateAll((all) =>
    all.findLastIndex(
      (element) =>
        element.scrollHeight > element.clientHeight + 100 && /auto|scroll/.test(getComputedStyle(element).overflowY)
    )
  )
  expect(at, 'what scrolls the map').toBeGreaterThanOrEqual(0)
  const map = around.nth(at)
  const room = await map.evaluate((element) => element.scrollHeight - element.clientHeight)
  // 100 frames of it reach the end of the map.
  const scrolled = await quietest(map, { by: Math.max(1, room / 101) })
  const pointed = await quietest(map, { pointer: 16 })
  for (const [what, { median, late }] of Object.entries({ scrolling: scrolled, pointing: pointed }))
    console.log(
      `map of ${size.nodes} nodes, ${what}: median frame ${median.toFixed(1)} ms, 95th percentile ${late.toFixed(1)} ms`
    )
  expect.soft(scrolled.median).toBeLessThanOrEqual(medianFrame)
  expect.soft(pointed.median).toBeLessThanOrEqual(medianFrame)
})
