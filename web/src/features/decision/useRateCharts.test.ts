import { describe, expect, it } from 'vitest'
import { shallowRef } from 'vue'
import type { Counts } from '@/api/types'
import { now, pendingSamples } from '@/live/status'
import { withSetup } from '@/ui/testing'
import { useRateCharts } from './useRateCharts'

describe('the charts', () => {
  it('show the range, also from before the page was opened, the mean of its end, and the peak', async () => {
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
    // The last sample is older than the page's count.
    expect(charts.pending?.values.at(-1)).toBe(14 / 3)
    expect(value.axis.value).toHaveLength(3)
    unmount()
  })
})
