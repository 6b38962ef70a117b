// Where a pending pod waits for its next attempt, asked again while it waits.

import { useIntervalFn } from '@vueuse/core'
import { computed, watch, type ComputedRef, type Ref } from 'vue'
import { ApiError } from '@/api/http'
import { getAttempts, tryNow } from '@/api/simulator'
import type { Pod, QueueWait } from '@/api/types'
import { isPending } from '@/kubernetes/pods'
import { useAnswer } from '@/live/answer'
import { connection } from '@/live/status'
import { results } from '@/live/watched'

/** An event may end the wait at any time, of which only the queue knows (ms). */
const askEvery = 2000

/** The scheduler gives a pod that it could not place a condition, which the gate of a pod gives it, too. */
const wasTried = (pod: Pod) =>
  !!pod.status?.conditions?.some(
    ({ type, status, reason }) => type === 'PodScheduled' && status === 'False' && reason !== 'SchedulingGated'
  )

export function useQueueWait(pod: Ref<Pod>): { wait: ComputedRef<QueueWait | undefined>; end: () => Promise<void> } {
  const attempts = computed(() => results.value.items.find((s) => s.pod.uid === pod.value.metadata.uid)?.attempt ?? 0)
  /** '' unless the pod is pending and was tried: the server knows nothing of other pods. */
  const uid = computed(() =>
    isPending(pod.value) && (attempts.value || wasTried(pod.value)) ? (pod.value.metadata.uid ?? '') : ''
  )
  const { value, error, ask, clear } = useAnswer(
    async (signal, of: string) => (await getAttempts(of, signal)).waiting,
    { dropOnError: true }
  )
  const again = () => (uid.value && connection.value.kind === 'live' ? ask(uid.value) : undefined)
  watch(
    [uid, attempts],
    ([of], [before]) => {
      if (of !== before) clear()
      void again()
    },
    { immediate: true }
  )
  // The attempts of a pod that was tried long ago may not be kept any more.
  useIntervalFn(
    () => void (error.value instanceof ApiError && error.value.code === 404 ? undefined : again()),
    askEvery
  )
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
