// The scheduler's queues, read from its metrics while somebody looks.

import { onBeforeUnmount, shallowRef, type Ref } from 'vue'
import { requestText } from '@/api/http'
import { readQueues, type QueueState } from '@/domain/metrics'

const every = 2000

/** undefined until the first answer, and when the server does not tell. */
export function useQueues(): { queues: Ref<readonly QueueState[] | undefined> } {
  const queues = shallowRef<readonly QueueState[]>()
  let stopped = false
  let timer: ReturnType<typeof setTimeout> | undefined

  async function read() {
    try {
      queues.value = readQueues(await requestText('/metrics', { accept: 'text/plain' }))
    } catch {
      // The header says that the server is gone; the last reading stays.
    }
    if (!stopped) timer = setTimeout(() => void read(), document.hidden ? 5 * every : every)
  }
  void read()
  onBeforeUnmount(() => {
    stopped = true
    clearTimeout(timer)
  })
  return { queues }
}
