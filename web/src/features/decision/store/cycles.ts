// Full records of cycles, fetched on demand; the most recent ones are cached.

import { shallowRef, watch, type Ref } from 'vue'
import { getCycle } from '@/api/simulator'
import type { Cycle, Summary } from '@/api/types'
import { useAnswer, useTurns } from '@/live/answer'

const kept = new Map<string, Promise<Cycle>>()
const keepAtMost = 16

/** An attempt can be published again with more facts. */
const versionOf = (summary: Summary) =>
  `${summary.pod.uid}/${summary.attempt}/${summary.outcome}/${summary.updates ?? 0}/${summary.durationSeconds}`

/** The full record of an attempt, from the cache or from the server. */
function cycleOf(summary: Summary): Promise<Cycle> {
  const key = versionOf(summary)
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

/** The record of the wanted attempt. The previous record of the same pod stays until the next one arrives. */
export function useCycle(wanted: Ref<Summary | undefined>): {
  cycle: Ref<Cycle | undefined>
  error: Ref<unknown>
  loading: Ref<boolean>
} {
  const {
    value: cycle,
    error,
    loading,
    ask,
    clear,
  } = useAnswer((_signal, summary: Summary) => cycleOf(summary), { dropOnError: true })
  watch(
    wanted,
    (summary) => {
      if (!summary) return clear()
      error.value = undefined
      if (cycle.value && cycle.value.pod.uid !== summary.pod.uid) cycle.value = undefined
      void ask(summary)
    },
    { immediate: true }
  )
  return { cycle, error, loading }
}

/**
 * The records of a pod's newest attempts by number, at most `most` of them, fetched one after
 * the other, newest first.
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
        // A record that cannot be loaded is left out; opening the attempt shows the error.
        const cycle = await cycleOf(summary).catch(() => undefined)
        if (signal.aborted) return
        if (cycle) found.value = new Map(found.value).set(summary.attempt, cycle)
      }
    },
    { immediate: true }
  )
  return found
}

/**
 * The records of attempts of several pods by the pod's uid, fetched one after the other in the
 * given order. A record stays until a newer one of its pod arrives.
 */
export function useCyclesOf(wanted: Ref<readonly Summary[]>): Ref<ReadonlyMap<string, Cycle>> {
  const found = shallowRef<ReadonlyMap<string, Cycle>>(new Map())
  const versions = new Map<string, string>()
  const turns = useTurns()
  watch(
    () => wanted.value.map(versionOf).join(),
    async () => {
      const signal = turns.next()
      const uids = new Set(wanted.value.map(({ pod }) => pod.uid))
      for (const uid of versions.keys()) if (!uids.has(uid)) versions.delete(uid)
      found.value = new Map([...found.value].filter(([uid]) => uids.has(uid)))
      for (const summary of wanted.value) {
        const { uid } = summary.pod
        if (versions.get(uid) === versionOf(summary)) continue
        // A record that cannot be loaded is left out; the pod's decision shows the error.
        const cycle = await cycleOf(summary).catch(() => undefined)
        if (signal.aborted) return
        if (!cycle) continue
        versions.set(uid, versionOf(summary))
        found.value = new Map(found.value).set(uid, cycle)
      }
    },
    { immediate: true }
  )
  return found
}
