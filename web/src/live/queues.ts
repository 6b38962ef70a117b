// The scheduling queue, watched while a component shows it.

import { createSharedComposable } from '@vueuse/core'
import { onScopeDispose, shallowRef, type ShallowRef } from 'vue'
import type { Queues, QueueState } from '@/api/types'
import type { Frame } from '@/api/watch'
import { watch } from './watched'

/**
 * `queues` is undefined until the first response, and if the server does not report its
 * queue; `asked` distinguishes the two. The last state stays while the server is gone.
 */
export const useQueues = createSharedComposable(
  (): { queues: ShallowRef<readonly QueueState[] | undefined>; asked: ShallowRef<boolean> } => {
    const queues = shallowRef<readonly QueueState[]>()
    const asked = shallowRef(false)
    const stop = watch.subscribe<Queues>(
      'queues',
      { topic: 'queues' },
      {
        frame(frame) {
          const last = lastOf(frame)
          if (last) queues.value = last.queues
          asked.value = true
        },
        error() {
          asked.value = true
        },
      }
    )
    onScopeDispose(stop)
    return { queues, asked }
  }
)

/** Each frame of the topic contains the complete state. */
function lastOf(frame: Frame<Queues>): Queues | undefined {
  return frame.type === 'list' ? frame.items.at(-1) : frame.events.at(-1)?.object
}
