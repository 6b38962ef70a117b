// The newest attempt of a pod: from the live results, or requested if it is older than those.

import { computed, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import { listResults } from '@/api/simulator'
import type { Summary } from '@/api/types'
import { useAnswer } from './answer'
import { results } from './watched'

/** A pod by name; with a uid, only exactly this pod counts. */
export interface WantedPod {
  namespace: string
  name: string
  uid?: string
}

/** `missing` is true once it is certain that there is no attempt. */
export function useNewest(pod: Ref<WantedPod | undefined>): {
  summary: ComputedRef<Summary | undefined>
  missing: ComputedRef<boolean>
} {
  const matches = (s: Summary, wanted: WantedPod) =>
    s.pod.name === wanted.name && s.pod.namespace === wanted.namespace && (!wanted.uid || s.pod.uid === wanted.uid)
  const live = computed(() => {
    const wanted = pod.value
    return wanted && results.value.items.find((s) => matches(s, wanted))
  })
  const {
    value: fetched,
    ask,
    clear,
  } = useAnswer(async (signal, wanted: WantedPod) => {
    const page = await listResults(
      { namespace: wanted.namespace, name: wanted.name, uid: wanted.uid || undefined, limit: 1 },
      signal
    )
    return page.items.find((s) => matches(s, wanted))
  })
  const asked = shallowRef(false)
  watch(
    () => (pod.value ? `${pod.value.namespace}/${pod.value.name}/${pod.value.uid ?? ''}` : ''),
    async () => {
      clear()
      asked.value = false
      // If the request fails, the live results arrive once the socket is connected again.
      if (pod.value && !live.value && (await ask(pod.value))) asked.value = true
    },
    { immediate: true }
  )
  const summary = computed(() => live.value ?? fetched.value)
  return { summary, missing: computed(() => asked.value && !summary.value) }
}
