// The decisions of the pods that came before and after a pod in its workload, such as its
// replacement; of a pod without an owner, those of the pods that had its name.

import { computed, watch, type ComputedRef, type Ref } from 'vue'
import { listResults } from '@/api/simulator'
import type { Summary } from '@/api/types'
import { useAnswer } from '@/live/answer'
import { results } from '@/live/watched'
import { neighbours, type Neighbours } from './model/neighbours'

/** Decisions that are searched for a neighbour. */
const most = 1000

export function useRelatedPods(of: Ref<Summary | undefined>, asked: Ref<boolean>): ComputedRef<Neighbours> {
  const { value, ask, clear } = useAnswer(async (signal, summary: Summary) => {
    const { namespace, name } = summary.pod
    const who = summary.owner
      ? { namespace, owner: `${summary.owner.kind}/${summary.owner.name}` }
      : { namespace, name }
    const [before, after] = await Promise.all([
      listResults({ ...who, until: summary.startTime, limit: most }, signal),
      listResults({ ...who, since: summary.startTime, limit: most }, signal),
    ])
    // Newest first: without its last page, the first pod after this one is not known.
    return neighbours(summary, before.items, after.continue ? [] : after.items)
  })
  watch(
    [
      () => of.value && `${of.value.pod.uid}/${of.value.attempt}`,
      asked,
      () => asked.value && results.value.items[0]?.pod.uid,
    ],
    ([key], [before]) => {
      if (key !== before) clear()
      if (asked.value && of.value) void ask(of.value)
    },
    { immediate: true }
  )
  return computed(() => value.value ?? { before: undefined, after: undefined })
}
