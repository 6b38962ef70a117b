// The number of objects of each kind, requested regularly while a component shows it.

import { useIntervalFn } from '@vueuse/core'
import { shallowRef, type Ref, type ShallowRef, watch } from 'vue'
import { countObjects } from '@/api/kubernetes'
import type { KindInfo } from '@/api/types'
import { pool } from '@/api/pool'
import { kindSlug } from '@/kubernetes/kinds'
import { useTurns } from '@/live/answer'

const every = 20_000

/** Counts by kind slug, without kinds whose count is unknown. */
export function useCounts(kinds: Ref<readonly KindInfo[]>): ShallowRef<ReadonlyMap<string, number>> {
  const counts = shallowRef<ReadonlyMap<string, number>>(new Map())
  const turns = useTurns()
  async function ask() {
    if (document.hidden) return
    const signal = turns.next()
    const next = new Map(counts.value)
    await pool(kinds.value, 3, async (kind) => {
      if (signal.aborted) return
      try {
        const count = await countObjects(kind, signal)
        if (count !== undefined) next.set(kindSlug(kind), count)
      } catch {
        // Counts are optional; the kind's page shows the error.
      }
    })
    if (!signal.aborted) counts.value = next
  }
  watch(kinds, () => void ask(), { immediate: true })
  useIntervalFn(() => void ask(), every)
  return counts
}
