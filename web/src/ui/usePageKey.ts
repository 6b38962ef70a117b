// A key that acts on the page.

import { useEventListener } from '@vueuse/core'

/** Calls run for the key alone, unless the user types into a field or a dialog is open. */
export function usePageKey(key: string, run: () => void): void {
  useEventListener(document, 'keydown', (event) => {
    if (event.key !== key || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (isTyping(event) || document.querySelector('dialog[open]')) return
    event.preventDefault()
    run()
  })
}

/** The event's target takes text, or is in a dialog, which has keys of its own. */
export function isTyping({ target }: Event): boolean {
  return !!(target as HTMLElement | null)?.closest?.('input, textarea, select, [contenteditable], dialog')
}
