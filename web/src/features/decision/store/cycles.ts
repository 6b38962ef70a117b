// Whole cycles, fetched when somebody looks and kept while they may look again.

import { shallowRef, watch, type Ref } from 'vue'
import { getCycle } from '@/api/simulator'
import type { Cycle, Summary } from '@/api/types'
import { useAnswer, useTurns } from '@/live/answer'

const kept = new Map<string, Promise<Cycle>>()
const keepAtMost = 16

/** The whole cycle of an attempt, from what is kept or from the server. */
export function cycleOf(summary: Summary): Promise<Cycle> {
  // A waiting attempt is published again when the wait has ended.
  const key = `${summary.pod.uid}/${summary.attempt}/${summary.outcome}/${summary.durationSeconds}`
  const known = kept.get(key)
  if (known) return known
  const cycle = getCycle(summary.pod.uid, summary.attempt)
  kept.set(key, cycle)
  cycle.catch(() => kept.delete(key))
  for (const old of kept.keys()) {
    if (kept.size <= keepAtMost) break
    kept.delete(old)
  }
  return cycle
}

/** Follows which cycle is wanted; keeps showing the last one until the next has come. */
export function useCycle(wanted: Ref<Summary | undefined>): { cycle: Ref<Cycle | undefined>; error: Ref<unknown>; loading: Ref<boolean> } {
  const { value: cycle, error, loading, ask, clear } = useAnswer((_signal, summary: Summary) => cycleOf(summary), { dropOnError: true })
  watch(
    wanted,
    (summary) => {
      if (!summary) return clear()
      error.value = undefined
      if (cycle.value && cycle.value.pod.uid !== summary.pod.uid) cycle.value = undefined
      void ask(summary)
    },
    { immediate: true },
  )
  return { cycle, error, loading }
}

/**
 * The cycles of a pod's attempts, for what stands between them: fetched one after the
 * other, newest first, at most `most` of them. Nothing is fetched while wanted is empty.
 */
export function useCycles(wanted: Ref<readonly Summary[]>, most = 10): Ref<ReadonlyMap<number, Cycle>> {
  const found = shallowRef<ReadonlyMap<number, Cycle>>(new Map())
  const turns = useTurns()
  let uid = ''
  watch(
    wanted,
    async (attempts) => {
      const signal = turns.next()
      if (attempts[0]?.pod.uid !== uid) {
        uid = attempts[0]?.pod.uid ?? ''
        found.value = new Map()
      }
      for (const summary of attempts.slice(-most).reverse()) {
        if (found.value.has(summary.attempt)) continue
        // The line of events does without one that cannot be had; the attempt itself says why when it is opened.
        const cycle = await cycleOf(summary).catch(() => undefined)
        if (signal.aborted) return
        if (cycle) found.value = new Map(found.value).set(summary.attempt, cycle)
      }
    },
    { immediate: true },
  )
  return found
}
