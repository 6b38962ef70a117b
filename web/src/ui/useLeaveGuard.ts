// Asks before a person leaves a page that holds something unsaved.

import { useEventListener } from '@vueuse/core'
import { shallowRef, type ShallowRef } from 'vue'
import { onBeforeRouteLeave } from 'vue-router'

/**
 * While someone wants to leave and unsaved holds, the result is the function that answers:
 * true discards and leaves, false stays. The browser asks by itself before it closes the page.
 */
export function useLeaveGuard(unsaved: () => boolean, discard: () => void): ShallowRef<((go: boolean) => void) | undefined> {
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
