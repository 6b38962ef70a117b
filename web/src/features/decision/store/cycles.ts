// Whole cycles, fetched when somebody looks and kept while they may look again.

import { shallowRef, watch, type Ref } from 'vue'
import { getCycle } from '@/api/simulator'
import type { Cycle, Summary } from '@/api/types'

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
        const found = await cycleOf(summary)
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

/**
 * The cycles of a pod's attempts, for what stands between them: fetched one after the
 * other, newest first, at most `most` of them. Nothing is fetched while wanted is empty.
 */
export function useCycles(wanted: Ref<readonly Summary[]>, most = 10): Ref<ReadonlyMap<number, Cycle>> {
  const found = shallowRef<ReadonlyMap<number, Cycle>>(new Map())
  let turn = 0
  let uid = ''
  watch(
    wanted,
    async (attempts) => {
      const mine = ++turn
      if (attempts[0]?.pod.uid !== uid) {
        uid = attempts[0]?.pod.uid ?? ''
        found.value = new Map()
      }
      for (const summary of attempts.slice(-most).reverse()) {
        if (found.value.has(summary.attempt)) continue
        try {
          const cycle = await cycleOf(summary)
          if (mine !== turn) return
          found.value = new Map(found.value).set(summary.attempt, cycle)
        } catch {
          // The line of events does without it; the attempt itself says what is wrong when it is opened.
        }
        if (mine !== turn) return
      }
    },
    { immediate: true },
  )
  return found
}
