// Where a pending pod waits for its next attempt, asked again while it waits.

import { useIntervalFn } from '@vueuse/core'
import { computed, watch, type ComputedRef, type Ref } from 'vue'
import { getAttempts, tryNow } from '@/api/simulator'
import type { Pod, QueueWait } from '@/api/types'
import { isPending } from '@/kubernetes/pods'
import { useAnswer } from '@/live/answer'
import { connection } from '@/live/status'
import { results } from '@/live/watched'

/** An event may end the wait at any time, of which only the queue knows (ms). */
const askEvery = 2000

export function useQueueWait(pod: Ref<Pod>): { wait: ComputedRef<QueueWait | undefined>; end: () => Promise<void> } {
  const uid = computed(() => (isPending(pod.value) ? (pod.value.metadata.uid ?? '') : ''))
  const attempts = computed(() => results.value.items.find((s) => s.pod.uid === uid.value)?.attempt ?? 0)
  // Without an attempt the server knows nothing of the pod, which is no error here.
  const { value, ask, clear } = useAnswer(async (signal, of: string) => (await getAttempts(of, signal)).waiting, { dropOnError: true })
  const again = () => (uid.value && connection.value.kind === 'live' ? ask(uid.value) : undefined)
  watch(
    [uid, attempts],
    ([of], [before]) => {
      if (of !== before) clear()
      void again()
    },
    { immediate: true },
  )
  useIntervalFn(() => void again(), askEvery)
  return {
    wait: computed(() => (uid.value ? value.value : undefined)),
    async end() {
      try {
        await tryNow(uid.value)
      } finally {
        await again()
      }
    },
  }
}
