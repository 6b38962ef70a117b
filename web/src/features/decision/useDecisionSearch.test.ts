import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as simulator from '@/api/simulator'
import type { Counts, Summary, SummaryPage } from '@/api/types'
import { connection } from '@/live/status'
import { results } from '@/live/watched'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { useDecisionSearch, type DecisionSearch } from './useDecisionSearch'
import { summary } from './model/testing'

const server = mockFunctions(simulator)

const none = { values: [], others: 0 }
const counts = (matching: number, kept = matching): Counts => ({
  matching,
  kept,
  facets: {
    outcome: none,
    namespace: none,
    plugin: none,
    reason: none,
    node: none,
    profile: none,
    revision: none,
    owner: none,
  },
})
const answer = (names: string, next = '', matching = names.length): SummaryPage => ({
  items: [...names].map((name) => summary(name)),
  continue: next,
  counts: counts(matching, 1523),
})

let page: Running<DecisionSearch>
async function open(query = '') {
  page = await withSetup(useDecisionSearch, { at: `/decisions${query}` })
  await flushPromises()
}
const listed = () => page.value.items.value.map((s) => s.pod.name).join('')
const lastAsked = () => server.listResults.mock.lastCall?.[0]
/** The socket has sent something. */
async function arrives(...items: Summary[]) {
  results.value = { items, synced: true }
  await vi.advanceTimersByTimeAsync(1100)
}

beforeEach(() => {
  vi.useFakeTimers()
  connection.value = { kind: 'live' }
  server.listResults.mockResolvedValue(answer('cb', '7', 5))
})
afterEach(() => {
  page.unmount()
  results.value = { items: [], synced: true }
  vi.useRealTimers()
  vi.resetAllMocks()
})

describe('a search for decisions', () => {
  it('asks the server what the link says, and counts what it does not list', async () => {
    await open('?q=web&plugin=NodeResourcesFit')
    expect(lastAsked()).toMatchObject({ q: 'web', plugin: 'NodeResourcesFit', counts: true })
    expect([
      listed(),
      page.value.counts.value?.matching,
      page.value.counts.value?.kept,
      page.value.hasOlder.value,
    ]).toEqual(['cb', 5, 1523, true])
    page.value.set({ plugin: '', node: 'n1' })
    await flushPromises()
    expect(page.router.currentRoute.value.query).toEqual({ q: 'web', node: 'n1' })
    expect(lastAsked()).toMatchObject({ q: 'web', node: 'n1' })
    expect(lastAsked()).not.toHaveProperty('plugin')
    page.value.clear()
    await flushPromises()
    expect(page.router.currentRoute.value.query).toEqual({})
  })

  it('loads older decisions by the continue token of the same search', async () => {
    await open('?last=15m')
    const since = lastAsked()?.since
    server.listResults.mockResolvedValue(answer('ba'))
    await vi.advanceTimersByTimeAsync(5000)
    await page.value.loadOlder()
    expect(lastAsked()).toMatchObject({ continue: '7', since })
    expect([listed(), page.value.hasOlder.value]).toEqual(['cba', false])
  })

  it('goes on where the server stopped to read for a rejected node, and keeps what it found', async () => {
    server.listResults.mockResolvedValue({ ...answer('', '9'), read: 200 })
    await open('?rejectedOn=n1')
    expect([listed(), page.value.read.value, page.value.hasOlder.value]).toEqual(['', 200, true])
    server.listResults.mockResolvedValue({ ...answer('a'), read: 40 })
    await page.value.loadOlder()
    expect(lastAsked()).toMatchObject({ rejectedOn: 'n1', continue: '9' })
    expect([listed(), page.value.read.value, page.value.hasOlder.value]).toEqual(['a', 240, false])
    server.listResults.mockResolvedValue({ ...answer('', '9'), read: 200 })
    await arrives(summary('d'))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(listed()).toBe('a')
  })

  it('repeats itself when decisions arrive, and keeps what was loaded', async () => {
    await open()
    server.listResults.mockResolvedValue(answer('ba'))
    await page.value.loadOlder()
    server.listResults.mockResolvedValue(answer('dcb', '6', 6))
    await arrives(summary('d'))
    expect([listed(), page.value.counts.value?.matching]).toEqual(['dcba', 6])
  })

  it('only counts while the user reads further down', async () => {
    await open()
    page.value.held.value = true
    server.listResults.mockResolvedValue(answer('ed', '6', 7))
    await arrives(summary('e'))
    expect(lastAsked()).toMatchObject({ limit: 1 })
    expect([listed(), page.value.fresh.value]).toEqual(['cb', 2])
    page.value.held.value = false
    await flushPromises()
    expect([listed(), page.value.fresh.value]).toEqual(['ed', 0])
  })

  it('keeps its list when the server goes away, and searches again when it is back', async () => {
    await open()
    connection.value = { kind: 'stale', since: 0 } as never
    server.listResults.mockRejectedValue(new Error('gone'))
    await flushPromises()
    expect([listed(), page.value.error.value]).toEqual(['cb', undefined])
    page.value.set({ q: 'x' })
    await flushPromises()
    expect(page.value.error.value).toBeInstanceOf(Error)
    server.listResults.mockResolvedValue(answer('x'))
    connection.value = { kind: 'live' }
    await flushPromises()
    expect([listed(), page.value.error.value]).toEqual(['x', undefined])
  })

  it('shows nothing of an earlier search that is answered late', async () => {
    await open()
    let late: (page: SummaryPage) => void = () => undefined
    server.listResults.mockImplementationOnce(() => new Promise((done) => (late = done)))
    page.value.set({ q: 'slow' })
    await flushPromises()
    server.listResults.mockResolvedValue(answer('q'))
    page.value.set({ q: 'quick' })
    await flushPromises()
    late(answer('s'))
    await flushPromises()
    expect(listed()).toBe('q')
  })
})
