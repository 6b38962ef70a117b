// The scheduling queue, watched while a component shows it.

import { createSharedComposable } from '@vueuse/core'
import { onScopeDispose, shallowRef, type ShallowRef } from 'vue'
import type { Queues, QueueState } from '@/api/types'
import type { Frame } from '@/api/watch'
import { watch } from './watched'

/**
 * `queues` is undefined until the first answer, and when the server does not know its queue;
 * `asked` tells the two apart. While the server is gone the last state stays.
 */
export const useQueues = createSharedComposable((): { queues: ShallowRef<readonly QueueState[] | undefined>; asked: ShallowRef<boolean> } => {
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
    },
  )
  onScopeDispose(stop)
  return { queues, asked }
})

/** The topic carries one object, whole each time. */
function lastOf(frame: Frame<Queues>): Queues | undefined {
  return frame.type === 'list' ? frame.items.at(-1) : frame.events.at(-1)?.object
}
