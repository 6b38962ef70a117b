// Kueue's queues, watched while a component shows them.

import { createSharedComposable } from '@vueuse/core'
import { onScopeDispose, shallowRef, type ShallowRef } from 'vue'
import type { Kueue } from '@/api/types'
import { watch } from './watched'

/** undefined until the first response. The last state stays while the server is gone. */
export const useAdmissions = createSharedComposable((): ShallowRef<Kueue | undefined> => {
  const kueue = shallowRef<Kueue>()
  const stop = watch.subscribe<Kueue>(
    'admissions',
    { topic: 'admissions' },
    {
      // Each frame of the topic contains the complete state.
      frame(frame) {
        const last = frame.type === 'list' ? frame.items.at(-1) : frame.events.at(-1)?.object
        if (last) kueue.value = last
      },
      error() {},
    }
  )
  onScopeDispose(stop)
  return kueue
})
