// The menu of nodes that is open, and the action that waits for a word. By itself: the map
// needs no more of it.

import { shallowRef } from 'vue'

/** These ask first, and say what follows. */
export type AskedAction = 'notReady' | 'unreachable' | 'drain' | 'delete'

/** Where the menu is open, and for which nodes. */
export const nodeMenu = shallowRef<{ names: readonly string[]; x: number; y: number; from: HTMLElement | undefined }>()
export const nodeAction = shallowRef<{ id: AskedAction; names: readonly string[] }>()

/** Opens the menu below a button, or where a right button was pressed. */
export function openNodeMenu(names: readonly string[], event: Event): void {
  event.preventDefault()
  event.stopPropagation()
  const target = event.currentTarget instanceof HTMLElement ? event.currentTarget : undefined
  const from = document.activeElement instanceof HTMLElement && event.type === 'contextmenu' ? document.activeElement : target
  const box = target?.getBoundingClientRect()
  const at = event instanceof MouseEvent && event.type === 'contextmenu' && (event.clientX || event.clientY) ? { x: event.clientX, y: event.clientY } : { x: box?.right ?? 0, y: (box?.bottom ?? 0) + 4 }
  nodeMenu.value = { names, ...at, from }
}
