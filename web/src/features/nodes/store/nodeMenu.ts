// The open node menu, and the action that waits for confirmation. A separate module,
// because the map needs nothing else of the actions.

import { shallowRef } from 'vue'

/** Actions that ask for confirmation and explain their consequences. */
export type AskedAction = 'notReady' | 'unreachable' | 'drain' | 'delete'

/** The position of the open menu, and its nodes. */
export const nodeMenu = shallowRef<{ names: readonly string[]; x: number; y: number; from: HTMLElement | undefined }>()
export const nodeAction = shallowRef<{ id: AskedAction; names: readonly string[] }>()

/** Opens the menu below a button, or at the position of a right click. */
export function openNodeMenu(names: readonly string[], event: Event): void {
  event.preventDefault()
  event.stopPropagation()
  const target = event.currentTarget instanceof HTMLElement ? event.currentTarget : undefined
  const from = document.activeElement instanceof HTMLElement && event.type === 'contextmenu' ? document.activeElement : target
  const box = target?.getBoundingClientRect()
  const at = event instanceof MouseEvent && event.type === 'contextmenu' && (event.clientX || event.clientY) ? { x: event.clientX, y: event.clientY } : { x: box?.right ?? 0, y: (box?.bottom ?? 0) + 4 }
  nodeMenu.value = { names, ...at, from }
}
