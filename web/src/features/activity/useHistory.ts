// What the server knows about the range: decisions from before the page was opened, and counts over time.

import { useIntervalFn } from '@vueuse/core'
import { computed, shallowRef, watch, type ComputedRef, type ShallowRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { listResults } from '@/api/simulator'
import type { Counts, Summary } from '@/api/types'
import { searchOf } from '@/features/decision/model/search'
import { boundsOf, type TimeRange } from '@/features/decision/model/timeRange'
import { useAnswer } from '@/live/answer'
import { connection } from '@/live/status'
import { results } from '@/live/watched'
import { chartBounds, mostHeld, points, withHistory } from './model/history'

export interface Overview {
  counts: Counts
  /** Of the timeline, in ms. */
  since: number
  until: number
}

export interface History {
  /** The range in the URL. */
  range: ComputedRef<TimeRange>
  setRange(range: TimeRange): void
  /** The decisions in the range, newest first. */
  items: ComputedRef<{ items: readonly Summary[] }>
  /** The number of decisions in the range; undefined before the first answer. */
  total: ComputedRef<number | undefined>
  overview: ShallowRef<Overview | undefined>
}

/** The counts are requested this often (ms). */
const countEvery = 3000

export function useHistory(): History {
  const route = useRoute()
  const router = useRouter()
  const range = computed(() => {
    const { last, since, until } = searchOf(route.query)
    return { last, since, until }
  })
  const chosen = computed(() => !!(range.value.last || range.value.since || range.value.until))

  const {
    value: before,
    ask: askBefore,
    clear: forget,
  } = useAnswer(
    async (signal, of: TimeRange) => (await listResults({ ...boundsOf(of, Date.now()), limit: mostHeld }, signal)).items
  )
  const {
    value: overview,
    ask: askCounts,
    clear: forgetCounts,
  } = useAnswer(async (signal, of: TimeRange): Promise<Overview | undefined> => {
    const { since, until } = chartBounds(of, overview.value?.counts.oldest, Date.now())
    const { counts } = await listResults(
      {
        since: new Date(since).toISOString(),
        until: new Date(until).toISOString(),
        counts: true,
        buckets: points,
        limit: 1,
      },
      signal
    )
    return counts && { counts, since, until }
  })
  const moment = shallowRef(Date.now())
  watch(
    [() => JSON.stringify(range.value), () => connection.value.kind === 'live'],
    ([key], [was]) => {
      if (key !== was) {
        forget()
        forgetCounts()
      }
      moment.value = Date.now()
      void askBefore(range.value)
      void askCounts(range.value)
    },
    { immediate: true }
  )
  useIntervalFn(() => {
    moment.value = Date.now()
    if (connection.value.kind === 'live') void askCounts(range.value)
  }, countEvery)
  // After a reset, nothing from before is left.
  watch(results, ({ items, synced }) => {
    if (synced && !items.length) forget()
  })

  return {
    range,
    setRange: ({ last, since, until }) =>
      void router.replace({
        query: { ...route.query, last: last || undefined, since: since || undefined, until: until || undefined },
      }),
    items: computed(() => ({ items: withHistory(results.value.items, before.value ?? [], range.value, moment.value) })),
    total: computed(
      () => overview.value && (chosen.value ? overview.value.counts.matching : overview.value.counts.kept)
    ),
    overview,
  }
}
