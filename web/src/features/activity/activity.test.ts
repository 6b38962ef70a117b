import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick, shallowRef } from 'vue'
import type { Counts, Summary } from '@/api/types'
import { now, pendingSamples } from '@/live/status'
import { withSetup, type Running } from '@/ui/testing'
import { useFeedFilters, type FeedFilters } from './useFeedFilters'
import { useHeldFeed, type HeldFeed } from './useHeldFeed'
import { useRateCharts } from './useRateCharts'

const summary = (attempt: number, more: Partial<Summary> = {}): Summary =>
  ({
    pod: { namespace: 'default', name: `p${attempt}`, uid: `u${attempt}` },
    attempt,
    profile: 'default-scheduler',
    startTime: '2026-01-01T00:00:00Z',
    durationSeconds: 0.001,
    outcome: 'scheduled',
    nodes: { total: 1, evaluated: 1, feasible: 1 },
    ...more,
  }) as Summary
const live = shallowRef<{ items: readonly Summary[] }>({ items: [] })
const arrive = (...attempts: number[]) => {
  live.value = { items: [...attempts.map((a) => summary(a)), ...live.value.items] }
  return nextTick()
}
const toTop = vi.fn()
let page: Running<HeldFeed & FeedFilters>
async function open(at = '/activity') {
  page = await withSetup(
    () => {
      const feed = useHeldFeed(live, toTop)
      return { ...feed, ...useFeedFilters(feed.items) }
    },
    { at }
  )
}
const press = (key: string, target: EventTarget = document.body, more: KeyboardEventInit = {}) => {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, ...more }))
  return nextTick()
}

beforeEach(() => {
  live.value = { items: [summary(1)] }
})
afterEach(() => {
  page.unmount()
  vi.clearAllMocks()
})

describe('a paused feed', () => {
  it('keeps its items, counts new ones, and shows them when it resumes', async () => {
    await open()
    page.value.toggle()
    await nextTick()
    await arrive(2, 3)
    expect([page.value.held.value, page.value.items.value.length, page.value.fresh.value]).toEqual([true, 1, 2])
    await arrive(4)
    expect(page.value.fresh.value).toBe(3)
    expect(page.value.heldAt.value).not.toBe('')
    page.value.toggle()
    await nextTick()
    expect([
      page.value.held.value,
      page.value.items.value.length,
      page.value.fresh.value,
      page.value.heldAt.value,
    ]).toEqual([false, 4, 0, ''])
    expect(toTop).toHaveBeenCalledOnce()
  })

  it('is also paused by scrolling away', async () => {
    await open()
    page.value.away.value = true
    await nextTick()
    await arrive(2)
    expect([page.value.held.value, page.value.fresh.value]).toEqual([true, 1])
    page.value.resume()
    expect([page.value.held.value, page.value.away.value]).toEqual([false, false])
  })

  it('follows the key P, but not while the user types, nor with a modifier', async () => {
    await open()
    const field = document.body.appendChild(document.createElement('input'))
    await press('p', field)
    await press('p', document.body, { ctrlKey: true })
    expect(page.value.held.value).toBe(false)
    await press('p')
    expect(page.value.held.value).toBe(true)
    await press('p')
    expect(page.value.held.value).toBe(false)
    field.remove()
  })
})

describe('the filters', () => {
  beforeEach(() => {
    live.value = {
      items: [
        summary(1),
        summary(2, { outcome: 'unschedulable', profile: 'other' }),
        summary(3, { outcome: 'unschedulable', nominatedNode: 'n' }),
        summary(4, { pod: { namespace: 'shop', name: 'web', uid: 'w' } }),
      ],
    }
  })
  const counts = () => Object.fromEntries(page.value.chips.value.map((c) => [c.value, c.count]))

  it('count outcomes of the cycles that match the other filters', async () => {
    await open()
    expect(counts()).toEqual({ all: 4, scheduled: 2, unschedulable: 1, preempted: 1, waiting: 0, error: 0 })
    page.value.namespace.value = 'shop'
    await flushPromises()
    expect(counts()).toMatchObject({ all: 1, scheduled: 1, unschedulable: 0 })
    page.value.outcome.value = 'unschedulable'
    await flushPromises()
    expect([page.value.rows.value.length, counts().all]).toEqual([0, 1])
  })

  it('offer the values of the items, and the URL’s value even if no item has it', async () => {
    await open('/activity?profile=gone')
    expect(page.value.profiles.value.map((o) => o.value)).toEqual(['', 'gone', 'default-scheduler', 'other'])
    expect(page.value.namespaces.value.map((o) => o.value)).toEqual(['', 'default', 'shop'])
  })

  it('are cleared without changing the feed', async () => {
    await open('/activity?feed=events&q=x&namespace=shop')
    page.value.clear()
    await flushPromises()
    expect(page.router.currentRoute.value.query).toEqual({ feed: 'events' })
  })
})

describe('the charts', () => {
  it('show the range, also from before the page was opened, the mean of its end, and the peak', async () => {
    await open()
    const until = Date.parse('2026-01-01T00:05:00Z')
    const none = Array.from({ length: 100 }, () => 0)
    const counts = {
      matching: 9,
      kept: 9,
      oldest: '2026-01-01T00:00:00Z',
      facets: {} as Counts['facets'],
      timeline: {
        scheduled: [6, ...none.slice(3), 3, 3],
        unschedulable: [...none.slice(1), 3],
        waiting: none,
        error: none,
      },
    }
    pendingSamples.set(until / 1000 - 10, 7)
    now.value = until
    const { value, unmount } = await withSetup(() =>
      useRateCharts(shallowRef({ counts, since: until - 300_000, until }))
    )
    const charts = Object.fromEntries(value.charts.value.map((c) => [c.id, c]))
    expect([charts.cycles?.figure, charts.bound?.figure]).toEqual(['1.5', '1'])
    expect(charts.bound?.values).toHaveLength(100)
    expect(charts.bound?.values[0]).toBe(2)
    expect(charts.pending?.note).toMatch(/peak 7, recorded since/)
    expect(value.axis.value).toHaveLength(3)
    unmount()
  })
})
