import { useEventListener } from '@vueuse/core'

/**
 * Calls leave on Escape, wherever the focus is, unless a dialog is open or something else has
 * handled the key.
 */
export function useEscape(leave: (event: KeyboardEvent) => void): void {
  useEventListener(document, 'keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('dialog[open]')) leave(event)
  })
}
