// The browser's full screen, for as long as a presentation lasts.

import { useEventListener } from '@vueuse/core'
import { onBeforeUnmount, onMounted } from 'vue'

/**
 * Asks for the full screen at once, which browsers grant after a click or a key, but not to a
 * link from elsewhere. `left` is called when the user leaves it, as by Escape, which then does
 * not reach the page.
 */
export function useFullScreen(left: () => void): { toggle(): void } {
  let ours = false
  const enter = () => {
    // Browsers refuse without a recent click, and some have no full screen: the presentation then
    // fills the window.
    document.documentElement.requestFullscreen?.().then(
      () => (ours = true),
      () => {}
    )
  }
  function exit() {
    if (!ours) return
    ours = false
    if (document.fullscreenElement) void document.exitFullscreen().catch(() => {})
  }
  useEventListener(document, 'fullscreenchange', () => {
    if (document.fullscreenElement || !ours) return
    ours = false
    left()
  })
  onMounted(() => navigator.userActivation?.isActive && enter())
  onBeforeUnmount(exit)
  return { toggle: () => (document.fullscreenElement ? exit() : enter()) }
}
