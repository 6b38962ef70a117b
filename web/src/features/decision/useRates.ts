// Counts of decisions over time, as the server knows them.

import { useIntervalFn } from '@vueuse/core'
import { toValue, watch, type MaybeRefOrGetter, type ShallowRef } from 'vue'
import { listResults } from '@/api/simulator'
import type { Counts } from '@/api/types'
import { useAnswer } from '@/live/answer'
import { connection } from '@/live/status'
import { chartBounds, points } from './model/rates'
import type { TimeRange } from './model/timeRange'

export interface Overview {
  counts: Counts
  /** Of the timeline, in ms. */
  since: number
  until: number
}

/** The counts are requested this often (ms). */
const countEvery = 3000

export function useRates(range: MaybeRefOrGetter<TimeRange>): ShallowRef<Overview | undefined> {
  const key = () => {
    const { last, since, until } = toValue(range)
    return JSON.stringify([last, since, until])
  }
  const { value, ask, clear } = useAnswer(async (signal, of: TimeRange): Promise<Overview | undefined> => {
    const { since, until } = chartBounds(of, value.value?.counts.oldest, Date.now())
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
  watch(
    [key, () => connection.value.kind === 'live'],
    ([now], [before]) => {
      if (now !== before) clear()
      void ask(toValue(range))
    },
    { immediate: true }
  )
  useIntervalFn(() => {
    if (connection.value.kind === 'live') void ask(toValue(range))
  }, countEvery)
  return value
}
