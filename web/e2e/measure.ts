// Measures in the page what a user would notice: long tasks, frame rate and heap.

import type { CDPSession, Locator, Page } from '@playwright/test'

declare global {
  interface Window {
    measured: { longTasks: { start: number; ms: number }[]; shownAt: number | undefined }
  }
}

/** Call before opening the page: records long tasks, and when the map shows the expected number of tiles. */
export async function watchPage(page: Page, tiles: number): Promise<void> {
  await page.addInitScript((count) => {
    window.measured = { longTasks: [], shownAt: undefined }
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.measured.longTasks.push({ start: Math.round(entry.startTime), ms: Math.round(entry.duration) })
    }).observe({ type: 'longtask', buffered: true })
    const look = () => {
      if (document.querySelector(`[data-testid="tiles"][data-count="${count}"]`)) window.measured.shownAt ??= performance.now()
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }, tiles)
}

export async function firstPaint(page: Page): Promise<number> {
  return page.evaluate(() => Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity))
}

/** Durations of the long tasks that start while `during` runs, in ms. */
export async function longTasks(page: Page, during: () => Promise<unknown>): Promise<number[]> {
  const from = await page.evaluate(() => performance.now())
  await during()
  return page.evaluate((start) => window.measured.longTasks.filter((task) => task.start >= start).map((task) => task.ms), from)
}

/** Size of the JavaScript heap after a garbage collection, in bytes. */
export async function heap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  return (await session.send('Runtime.getHeapUsage')).usedSize
}

interface TraceEvent {
  name: string
  ts: number
}

/** Frames per second that Chromium drew while `during` ran, according to its trace. */
export async function framesDrawn(session: CDPSession, during: () => Promise<unknown>): Promise<number> {
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['disabled-by-default-devtools.timeline.frame', 'devtools.timeline.frame'] } })
  await during()
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.end')
  await complete
  const drawn = events.filter((e) => e.name === 'DrawFrame').map((e) => e.ts)
  const seconds = (Math.max(...drawn) - Math.min(...drawn)) / 1e6
  return (drawn.length - 1) / seconds
}

/**
 * Scrolls down and up over the middle of an element, as a mouse wheel does. It stops at
 * the element's end, because beyond it nothing moves and Chromium draws no frames.
 */
export async function scroll(page: Page, session: CDPSession, selector: string): Promise<void> {
  const box = await page.locator(selector).boundingBox()
  const room = await page.locator(selector).evaluate((element) => {
    let at: Element | null = element
    while (at && at.scrollHeight <= at.clientHeight + 1) at = at.parentElement
    return at ? at.scrollHeight - at.clientHeight : 0
  })
  const view = page.viewportSize()
  if (!box || !view || box.y > view.height) throw new Error(`${selector} is not shown`)
  const at = { x: box.x + box.width / 2, y: (box.y + Math.min(view.height, box.y + box.height)) / 2 }
  const far = Math.min(1500, room)
  for (const yDistance of [-far, far]) await session.send('Input.synthesizeScrollGesture', { ...at, yDistance, speed: 1000, gestureSourceType: 'mouse' })
}

/** One frame at 60 frames per second, in ms. Tests compare the median, because another process may delay single frames. */
export const medianFrame = 17

export interface FrameTimes {
  median: number
  late: number
}

/** What happens in each frame: the box scrolls by some px, or the pointer moves over it by some px to the right, line by line. */
export type EachFrame = { by: number } | { pointer: number }

/** The best of three runs: other processes may slow down a run, and the test measures what the page can do. */
export async function quietest(box: Locator, each: EachFrame): Promise<FrameTimes> {
  let best = await frames(box, each)
  for (let i = 1; i < 3 && best.median > medianFrame; i++) {
    await box.evaluate((element) => (element.scrollTop = 0))
    const again = await frames(box, each)
    if (again.median < best.median) best = again
  }
  return best
}

/** Frame times in ms. */
async function frames(box: Locator, each: EachFrame): Promise<FrameTimes> {
  await box.scrollIntoViewIfNeeded()
  const gaps = await box.evaluate(async (element, what) => {
    const frame = () => new Promise<number>(requestAnimationFrame)
    const { left, top, width, height } = element.getBoundingClientRect()
    let moved = 0
    const act = () => {
      if ('by' in what) {
        element.scrollTop += what.by
        return
      }
      moved += what.pointer
      const [clientX, clientY] = [left + (moved % width), top + ((Math.floor(moved / width) * 24 + 12) % height)]
      const under = document.elementFromPoint(clientX, clientY) ?? element
      for (const type of ['pointermove', 'mousemove']) under.dispatchEvent(new PointerEvent(type, { bubbles: true, clientX, clientY, pointerType: 'mouse' }))
    }
    const found: number[] = []
    // The first frames create the rows; the test measures the frames after them.
    for (let i = 0; i < 10; i++) {
      act()
      await frame()
    }
    let last = await frame()
    for (let i = 0; i < 90; i++) {
      act()
      const at = await frame()
      found.push(at - last)
      last = at
    }
    return found.sort((a, b) => a - b)
  }, each)
  return { median: gaps[Math.floor(gaps.length / 2)] ?? Infinity, late: gaps[Math.floor(gaps.length * 0.95)] ?? Infinity }
}
