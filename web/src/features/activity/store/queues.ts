// The scheduler's queues, read from its metrics while somebody looks.

import { onBeforeUnmount, shallowRef, type Ref } from 'vue'
import { requestText } from '@/api/http'
import { readQueues, type QueueState } from '../model/metrics'

const every = 2000

/** `queues` is undefined until the first answer, and when the server does not tell; `asked` tells the two apart. */
export function useQueues(): { queues: Ref<readonly QueueState[] | undefined>; asked: Ref<boolean> } {
  const queues = shallowRef<readonly QueueState[]>()
  const asked = shallowRef(false)
  let stopped = false
  let timer: ReturnType<typeof setTimeout> | undefined

  async function read() {
    try {
      queues.value = readQueues(await requestText('/metrics', { accept: 'text/plain' }))
    } catch {
      // The header says that the server is gone; the last reading stays.
    }
    asked.value = true
    if (!stopped) timer = setTimeout(() => void read(), document.hidden ? 5 * every : every)
  }
  void read()
  onBeforeUnmount(() => {
    stopped = true
    clearTimeout(timer)
  })
  return { queues, asked }
}
