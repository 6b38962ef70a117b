// Measures in the page what a user would notice: long tasks, frame rate and heap.

import type { Browser, CDPSession, Locator, Page } from '@playwright/test'

declare global {
  interface Window {
    measured: { longTasks: { start: number; ms: number }[]; shownAt: number | undefined }
  }
}

/**
 * Starts to record long tasks, and when the map shows the expected number of tiles. It runs in the
 * page, before the page's own scripts.
 */
function watch(tiles: number): void {
  window.measured = { longTasks: [], shownAt: undefined }
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      window.measured.longTasks.push({ start: Math.round(entry.startTime), ms: Math.round(entry.duration) })
  }).observe({ type: 'longtask', buffered: true })
  const look = () => {
    if (document.querySelector(`[data-testid="tiles"][data-count="${tiles}"]`))
      window.measured.shownAt ??= performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

/** Call before opening the page. */
export async function watchPage(page: Page, tiles: number): Promise<void> {
  await page.addInitScript(watch, tiles)
}

/** A page of either kind. */
interface Evaluating {
  evaluate<T>(run: () => T): Promise<T>
}

/** A message of the DevTools protocol: the answer to the request with this id, or an event. */
interface Answer {
  id?: number
  result?: unknown
  error?: { message: string }
}

/**
 * A page that Playwright does not know. Of a page that it knows, Playwright gets a copy of each
 * message on a WebSocket:
 * the lists of a large cluster then take twice as long to arrive.
 */
export class UnobservedPage {
  private sent = 0
  private readonly answers = new Map<number | undefined, (answer: Answer) => void>()

  private constructor(
    private readonly browser: CDPSession,
    private readonly browserContextId: string,
    private readonly sessionId: string
  ) {
    browser.on('Target.receivedMessageFromTarget', ({ sessionId: from, message }) => {
      if (from !== sessionId) return
      const answer = JSON.parse(message) as Answer
      this.answers.get(answer.id)?.(answer)
    })
  }

  /** Opens an address and measures from its first moment. */
  static async open(browser: Browser, url: string, tiles: number): Promise<UnobservedPage> {
    const session = await browser.newBrowserCDPSession()
    const { browserContextId } = await session.send('Target.createBrowserContext')
    const { targetId } = await session.send('Target.createTarget', {
      url: 'about:blank',
      width: 1440,
      height: 900,
      browserContextId,
    })
    const { sessionId } = await session.send('Target.attachToTarget', { targetId, flatten: false })
    const page = new UnobservedPage(session, browserContextId, sessionId)
    await page.send('Page.enable')
    await page.send('Page.addScriptToEvaluateOnNewDocument', { source: `(${watch})(${tiles})` })
    await page.send('Page.navigate', { url })
    return page
  }

  async evaluate<T>(run: () => T): Promise<T> {
    const { result, exceptionDetails } = await this.send<{ result: { value: T }; exceptionDetails?: { text: string } }>(
      'Runtime.evaluate',
      { expression: `(${run})()`, returnByValue: true }
    )
    if (exceptionDetails) throw new Error(exceptionDetails.text)
    return result.value
  }

  async close(): Promise<void> {
    await this.browser.send('Target.disposeBrowserContext', { browserContextId: this.browserContextId })
    await this.browser.detach()
  }

  private async send<T = unknown>(method: string, params: object = {}): Promise<T> {
    const id = ++this.sent
    const answer = new Promise<Answer>((resolve) => this.answers.set(id, resolve))
    await this.browser.send('Target.sendMessageToTarget', {
      sessionId: this.sessionId,
      message: JSON.stringify({ id, method, params }),
    })
    const { result, error } = await answer
    this.answers.delete(id)
    if (error) throw new Error(`${method}: ${error.message}`)
    return result as T
  }
}

export async function firstPaint(page: Evaluating): Promise<number> {
  return page.evaluate(() =>
    Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity)
  )
}

/** Durations of the long tasks that start while `during` runs, in ms. */
export async function longTasks(page: Evaluating, during: () => Promise<unknown>): Promise<number[]> {
  const from = await page.evaluate(() => performance.now())
  await during()
  const tasks = await page.evaluate(() => window.measured.longTasks)
  return tasks.filter(({ start }) => start >= from).map(({ ms }) => ms)
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
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['disabled-by-default-devtools.timeline.frame', 'devtools.timeline.frame'] },
  })
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
  for (const yDistance of [-far, far])
    await session.send('Input.synthesizeScrollGesture', { ...at, yDistance, speed: 1000, gestureSourceType: 'mouse' })
}

/**
 * One frame at 60 frames per second, in ms. Tests compare the median, because another process may
 * delay single frames.
 */
export const medianFrame = 17

export interface FrameTimes {
  median: number
  late: number
}

/**
 * What happens in each frame: the box scrolls by some px, or the pointer moves over it by some px
 * to the right, line by line.
 */
export type EachFrame = { by: number } | { pointer: number }

/**
 * The best of three runs: other processes may slow down a run, and the test measures what the page
 * can do.
 */
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
      for (const type of ['pointermove', 'mousemove'])
        under.dispatchEvent(new PointerEvent(type, { bubbles: true, clientX, clientY, pointerType: 'mouse' }))
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
  return {
    median: gaps[Math.floor(gaps.length / 2)] ?? Infinity,
    late: gaps[Math.floor(gaps.length * 0.95)] ?? Infinity,
  }
}
