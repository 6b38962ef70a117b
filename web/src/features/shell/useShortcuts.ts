// The keyboard shortcuts of the whole application.

import { useEventListener } from '@vueuse/core'
import { ref, type Ref } from 'vue'
import { useRouter } from 'vue-router'
import { undoOpen } from '@/features/act/store/asked'
import { openCreate } from '@/features/create/store/create'
import { showsPast } from '@/live/shownMoment'
import { isTyping } from '@/ui/usePageKey'
import { ShortcutReader } from './model/shortcuts'
import { typedAhead } from './store/typedAhead'

/**
 * Whether the command palette and the list of shortcuts are open. Ctrl-K toggles the palette, ?
 * opens the list.
 */
export function useShortcuts(): { paletteOpen: Ref<boolean>; helpOpen: Ref<boolean> } {
  const router = useRouter()
  const paletteOpen = ref(false)
  const helpOpen = ref(false)
  const reader = new ShortcutReader()

  useEventListener(document, 'keydown', (event) => {
    if (event.defaultPrevented) return
    const typed = event.key === 'Enter' ? '\n' : event.key
    if (
      paletteOpen.value &&
      !document.querySelector('dialog[open]') &&
      typed.length === 1 &&
      !event.ctrlKey &&
      !event.metaKey &&
      !event.altKey
    ) {
      // The palette still loads: what the user types is for it, and no shortcut.
      typedAhead.value += typed
      event.preventDefault()
      return
    }
    const action = reader.read(event, {
      typing: isTyping(event),
      now: event.timeStamp,
    })
    // The past can be looked at, but not changed.
    if (showsPast.value && (action?.kind === 'create' || action?.kind === 'undo')) return
    // Other dialogs keep their keys.
    if (!action || (document.querySelector('dialog[open]') && !paletteOpen.value)) return
    event.preventDefault()
    if (action.kind === 'palette') {
      typedAhead.value = ''
      paletteOpen.value = !paletteOpen.value
    } else if (action.kind === 'help') helpOpen.value = true
    else if (action.kind === 'create') openCreate()
    else if (action.kind === 'undo') undoOpen.value = true
    else void router.push({ name: action.view })
  })
  return { paletteOpen, helpOpen }
}
