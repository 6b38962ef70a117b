// The decisions of a replay, each paired with the recorded one, fetched page by page.

import { onScopeDispose, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { getComparison, type ReplayDecision, type ReplayOutcome } from '@/api/replay'
import { replay } from './replay'

const pageSize = 1000
/** While it plays, the first page is asked for again after so long (ms). */
const renewAfter = 1500

export interface ReplayDecisionsView {
  items: ShallowRef<readonly ReplayDecision[]>
  /** Where the next page begins; '' when there is none. */
  next: ShallowRef<string>
  nodesMissing: ShallowRef<number>
  loading: ShallowRef<boolean>
  error: ShallowRef<unknown>
  more: () => Promise<void>
  renew: () => Promise<void>
}

/** Follows the comparison of the replay that is loaded, of one outcome or ('') of all. */
export function useReplayDecisions(outcome: Ref<ReplayOutcome | ''>): ReplayDecisionsView {
  const items = shallowRef<readonly ReplayDecision[]>([])
  const next = shallowRef('')
  const nodesMissing = shallowRef(0)
  const loading = shallowRef(false)
  const error = shallowRef<unknown>()
  let turn = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Pages from a place on, so many; from the start they take the place of what is there. */
  async function load(from: string, pages: number): Promise<void> {
    const mine = ++turn
    loading.value = true
    try {
      let at = from
      const found: ReplayDecision[] = []
      for (let i = 0; i < pages && (i === 0 || at); i++) {
        const page = await getComparison({ outcome: outcome.value || undefined, limit: pageSize, continue: at || undefined })
        if (mine !== turn) return
        found.push(...page.items)
        at = page.continue
        nodesMissing.value = page.nodesMissing
      }
      items.value = from ? [...items.value, ...found] : found
      next.value = at
      error.value = undefined
    } catch (reason) {
      if (mine === turn) error.value = reason
    } finally {
      if (mine === turn) loading.value = false
    }
  }
  const renew = () => load('', Math.max(1, Math.ceil(items.value.length / pageSize)))
  watch(
    outcome,
    () => {
      items.value = []
      next.value = ''
      if (replay.value) void renew()
    },
    { immediate: true },
  )
  watch(
    () => {
      const now = replay.value
      return now && `${now.name} ${now.start} ${now.decisions.compared} ${now.decisions.matching} ${now.decisions.different} ${now.decisions.pending}`
    },
    (now, before) => {
      if (!now) {
        items.value = []
        return
      }
      if (!before) return void renew()
      timer ??= setTimeout(() => {
        timer = undefined
        void renew()
      }, renewAfter)
    },
  )
  onScopeDispose(() => {
    turn++
    clearTimeout(timer)
  })
  return { items, next, nodesMissing, loading, error, more: () => (next.value && !loading.value ? load(next.value, 1) : Promise.resolve()), renew }
}
