// The cycles besides the shown one: the one that it is compared with, and those for the queue's timeline.

import { computed, type Ref } from 'vue'
import type { Cycle } from '@/api/types'
import { differenceOf } from './model/attemptDifference'
import { useCycle, useCycles } from './store/cycles'
import type { Attempts } from './useAttempts'

export type AttemptCycles = ReturnType<typeof useAttemptCycles>

/** With more evaluated nodes than this, full records are too large to fetch only for the queue's timeline. */
const nodesAtMost = 1000

export function useAttemptCycles(
  cycle: Ref<Cycle | undefined>,
  { attempts, current, comparedWith }: Pick<Attempts, 'attempts' | 'current' | 'comparedWith'>
) {
  const { cycle: other, error } = useCycle(comparedWith)
  const light = computed(() =>
    (cycle.value?.nodes.evaluated ?? 0) <= nodesAtMost
      ? attempts.value
      : attempts.value.filter((a) => a.attempt === current.value?.attempt)
  )
  return {
    /** undefined unless both compared cycles are loaded. */
    difference: computed(() => {
      if (!cycle.value || !other.value || !comparedWith.value) return undefined
      return { from: other.value.attempt, to: cycle.value.attempt, between: differenceOf(other.value, cycle.value) }
    }),
    differenceError: error,
    cycles: useCycles(light),
    laterAttempts: computed(() => attempts.value.filter((a) => a.attempt > (cycle.value?.attempt ?? Infinity))),
  }
}
