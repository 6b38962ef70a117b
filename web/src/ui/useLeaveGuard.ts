// Asks for confirmation before the user leaves a page with unsaved changes.

import { useEventListener } from '@vueuse/core'
import { shallowRef, type ShallowRef } from 'vue'
import { onBeforeRouteLeave } from 'vue-router'

/**
 * The result is set while the page asks: call it with true to discard and leave, or with
 * false to stay. Before a tab closes, the browser itself asks.
 */
export function useLeaveGuard(
  unsaved: () => boolean,
  discard: () => void
): ShallowRef<((go: boolean) => void) | undefined> {
  const answer = shallowRef<(go: boolean) => void>()
  onBeforeRouteLeave(() => {
    if (!unsaved()) return true
    return new Promise<boolean>((resolve) => {
      answer.value = (go) => {
        answer.value = undefined
        if (go) discard()
        resolve(go)
      }
    })
  })
  useEventListener(window, 'beforeunload', (event) => {
    if (unsaved()) event.preventDefault()
  })
  return answer
}
