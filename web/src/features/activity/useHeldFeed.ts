// The feed of cycles, which the user can pause to read.

import { useEventListener } from '@vueuse/core'
import { computed, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import type { Summary } from '@/api/types'
import { freshCount } from './model/feed'

export interface HeldFeed {
  /** The live items, or while paused the items of that moment. */
  items: ComputedRef<readonly Summary[]>
  held: ComputedRef<boolean>
  /** When the feed was paused (RFC 3339); '' while it is live. */
  heldAt: Ref<string>
  /** The number of items that arrived since then. */
  fresh: ComputedRef<number>
  /** The user has scrolled away from the newest item, which also pauses the feed. */
  away: Ref<boolean>
  resume(): void
  toggle(): void
}

/** The key P toggles the pause. toTop is called when the feed is live again. */
export function useHeldFeed(live: Ref<{ items: readonly Summary[] }>, toTop: () => void): HeldFeed {
  const paused = ref(false)
  const away = ref(false)
  const held = computed(() => paused.value || away.value)
  const frozen = shallowRef<readonly Summary[]>()
  const heldAt = ref('')
  watch(held, (hold) => {
    frozen.value = hold ? live.value.items : undefined
    heldAt.value = hold ? new Date().toISOString() : ''
  })

  function resume() {
    paused.value = false
    away.value = false
    toTop()
  }
  function toggle() {
    if (held.value) resume()
    else paused.value = true
  }
  useEventListener(document, 'keydown', (event) => {
    if (event.key !== 'p' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (
      (event.target as HTMLElement | null)?.closest?.('input, textarea, select, [contenteditable], dialog') ||
      document.querySelector('dialog[open]')
    )
      return
    toggle()
  })

  return {
    items: computed(() => frozen.value ?? live.value.items),
    held,
    heldAt,
    fresh: computed(() => (frozen.value ? freshCount(frozen.value, live.value.items) : 0)),
    away,
    resume,
    toggle,
  }
}
