// The decision that a board tells: that of the pod and the attempt in the URL, or the first of the
// board's list.

import { computed, watch, type ComputedRef, type Ref } from 'vue'
import { listResults } from '@/api/simulator'
import type { Summary } from '@/api/types'
import { splitKey } from '@/kubernetes/object'
import { useAnswer } from '@/live/answer'
import { results } from '@/live/watched'

const mostAttempts = 20

/**
 * `pod` is namespace/name; '' for none. Without the attempt, the pod's newest one of `decisions`
 * counts, else its newest.
 */
export function useTold(pod: Ref<string>, attempt: Ref<string>, decisions: ComputedRef<readonly Summary[]>) {
  const isOf = (one: Summary) => `${one.pod.namespace}/${one.pod.name}` === pod.value
  /** The pod may be older than the live results. */
  const asked = useAnswer(
    async (signal, { namespace, name }: { namespace: string; name: string }) =>
      (await listResults({ namespace, name, limit: mostAttempts }, signal)).items
  )
  watch(
    pod,
    (key) => {
      const ref = splitKey(key)
      if (ref) void asked.ask(ref)
      else asked.clear()
    },
    { immediate: true }
  )
  /** The attempts of the pod in the URL, newest first; none without a pod. */
  const ofPod = computed((): readonly Summary[] => {
    if (!pod.value) return []
    const live = results.value.items.filter(isOf)
    const known = new Set(live.map((one) => `${one.pod.uid}/${one.attempt}`))
    return [...live, ...(asked.value.value ?? []).filter((one) => !known.has(`${one.pod.uid}/${one.attempt}`))]
  })
  const summary = computed(() => {
    if (!pod.value) return decisions.value[0]
    const wanted = ofPod.value.find((one) => String(one.attempt) === attempt.value)
    return wanted ?? decisions.value.find(isOf) ?? ofPod.value[0]
  })
  return { ofPod, summary }
}
