// Whole cycles, fetched when somebody looks and kept while they may look again.

import { shallowRef, watch, type Ref } from 'vue'
import { getAttempts, getCycle } from '@/api/simulator'
import type { Cycle, Summary } from '@/api/types'

const kept = new Map<string, Promise<Cycle>>()
const keepAtMost = 12

function load(summary: Summary): Promise<Cycle> {
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
  const cycle = shallowRef<Cycle>()
  const error = shallowRef<unknown>()
  const loading = shallowRef(false)
  let turn = 0
  watch(
    wanted,
    async (summary) => {
      const mine = ++turn
      error.value = undefined
      if (!summary) {
        cycle.value = undefined
        loading.value = false
        return
      }
      if (cycle.value && cycle.value.pod.uid !== summary.pod.uid) cycle.value = undefined
      loading.value = true
      try {
        const found = await load(summary)
        if (mine === turn) cycle.value = found
      } catch (reason) {
        if (mine === turn) {
          cycle.value = undefined
          error.value = reason
        }
      } finally {
        if (mine === turn) loading.value = false
      }
    },
    { immediate: true },
  )
  return { cycle, error, loading }
}

export { getAttempts }
