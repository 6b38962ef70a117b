// The placements of imported pods, asked for again while they change.

import { useIntervalFn } from '@vueuse/core'
import { computed, watch, type Ref } from 'vue'
import { getPlacements, type PlacementQuery } from '@/api/transfer'
import { importing } from '@/features/transfer/store/transfer'
import { useAnswer } from '@/live/answer'

/** While pods are being placed, and afterwards (ms). */
const quick = 2000
const slow = 10_000

export function usePlacements(query: Ref<PlacementQuery>) {
  const { value, error, ask } = useAnswer((signal, of: PlacementQuery) => getPlacements(of, signal))
  const renew = () => ask(query.value)
  watch(query, () => void renew(), { immediate: true })
  const changes = computed(() => {
    const now = value.value
    return importing.value || !now || now.pending > 0 || now.explained < now.different
  })
  useIntervalFn(
    () => document.hidden || void renew(),
    computed(() => (changes.value ? quick : slow))
  )
  return { found: value, error, renew }
}
