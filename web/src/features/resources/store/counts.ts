// How many objects of each kind there are, asked for now and again while somebody looks.

import { onScopeDispose, shallowRef, type Ref, type ShallowRef, watch } from 'vue'
import { countObjects } from '@/api/kubernetes'
import type { KindInfo } from '@/api/types'
import { pool } from '@/api/pool'
import { kindSlug } from '@/kubernetes/kinds'

const every = 20_000

/** Counts by kind slug. A kind whose count could not be had is not in it. */
export function useCounts(kinds: Ref<readonly KindInfo[]>): ShallowRef<ReadonlyMap<string, number>> {
  const counts = shallowRef<ReadonlyMap<string, number>>(new Map())
  let abort: AbortController | undefined
  async function ask() {
    if (document.hidden) return
    abort?.abort()
    const mine = new AbortController()
    abort = mine
    const next = new Map(counts.value)
    await pool(kinds.value, 3, async (kind) => {
      if (mine.signal.aborted) return
      try {
        const count = await countObjects(kind, mine.signal)
        if (count !== undefined) next.set(kindSlug(kind), count)
      } catch {
        // Decoration: what is wrong is told where the kind's list is shown.
      }
    })
    if (!mine.signal.aborted) counts.value = next
  }
  watch(kinds, () => void ask(), { immediate: true })
  const timer = setInterval(() => void ask(), every)
  onScopeDispose(() => {
    clearInterval(timer)
    abort?.abort()
  })
  return counts
}
