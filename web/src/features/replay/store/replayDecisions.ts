// The decisions of a replay, each paired with the recorded one, fetched page by page.

import { useTimeoutFn } from '@vueuse/core'
import { computed, watch, type Ref } from 'vue'
import { getComparison, type ReplayDecision, type ReplayOutcome } from '@/api/replay'
import { useAnswer } from '@/live/answer'
import { replay } from './replay'

const pageSize = 1000
/** During playback, the loaded pages are requested again this long after a change (ms). */
const renewAfter = 1500

export type ReplayDecisionsView = ReturnType<typeof useReplayDecisions>

interface Pages {
  items: readonly ReplayDecision[]
  next: string
  nodesMissing: number
}

/** Follows the comparison of the loaded replay, for one outcome or ('') for all. */
export function useReplayDecisions(outcome: Ref<ReplayOutcome | ''>) {
  const { value, error, loading, ask: load, clear } = useAnswer(loadPages)
  const items = computed(() => value.value?.items ?? [])
  /** The token of the next page; '' if there is none. */
  const next = computed(() => value.value?.next ?? '')
  const nodesMissing = computed(() => value.value?.nodesMissing ?? 0)

  /** Loads `pages` pages from a token on and appends them; from '' they replace the loaded ones. */
  async function loadPages(signal: AbortSignal, from: string, pages: number): Promise<Pages> {
    const found: ReplayDecision[] = from ? [...items.value] : []
    let at = from
    let missing = 0
    for (let i = 0; i < pages && (i === 0 || at); i++) {
      const page = await getComparison(
        { outcome: outcome.value || undefined, limit: pageSize, continue: at || undefined },
        signal
      )
      found.push(...page.items)
      at = page.continue
      missing = page.nodesMissing
    }
    return { items: found, next: at, nodesMissing: missing }
  }
  const renew = () => load('', Math.max(1, Math.ceil(items.value.length / pageSize)))
  const soon = useTimeoutFn(() => void renew(), renewAfter, { immediate: false })
  watch(
    outcome,
    () => {
      clear()
      if (replay.value) void renew()
    },
    { immediate: true }
  )
  watch(
    () => {
      const now = replay.value
      return (
        now &&
        `${now.name} ${now.start} ${now.decisions.compared} ${now.decisions.matching} ${now.decisions.different} ${now.decisions.pending}`
      )
    },
    (now, before) => {
      if (!now) clear()
      else if (!before) void renew()
      else if (!soon.isPending.value) soon.start()
    }
  )
  return {
    items,
    next,
    nodesMissing,
    loading,
    error,
    more: () => (next.value && !loading.value ? load(next.value, 1) : Promise.resolve(false)),
    renew,
  }
}
