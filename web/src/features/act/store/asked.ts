// What the user is about to do: the open menu of objects, the change that the dialog asks
// about, and the history of changes. A separate module, because the pages need nothing else of the changes.

import { ref, shallowRef } from 'vue'
import type { ObjectRef } from '@/kubernetes/object'
import type { Entry } from '../model/entry'
import { nodeRef } from '../model/links'
import type { Input, Verb } from '../model/verbs'

/** The position of the open menu, and its objects, which are of one kind. */
export const objectMenu = shallowRef<{
  refs: readonly ObjectRef[]
  x: number
  y: number
  from: HTMLElement | undefined
}>()
/** The change that the dialog is about, with what is already entered. */
export const asked = shallowRef<{
  verb: Verb | 'drain'
  refs: readonly ObjectRef[]
  input?: Partial<Input>
}>()
/** The user's own changes since the page was opened, newest first. */
export const entries = shallowRef<readonly Entry[]>([])
export const historyOpen = ref(false)
/** The dialog that names the last step and takes it back. */
export const undoOpen = ref(false)

export function ask(verb: Verb | 'drain', refs: readonly ObjectRef[], input?: Partial<Input>): void {
  if (refs.length) asked.value = { verb, refs, input }
}

/** Opens the menu below a button, or at the position of a right click. */
export function openObjectMenu(refs: readonly ObjectRef[], event: Event): void {
  event.preventDefault()
  event.stopPropagation()
  const target = event.currentTarget instanceof HTMLElement ? event.currentTarget : undefined
  const from =
    document.activeElement instanceof HTMLElement && event.type === 'contextmenu' ? document.activeElement : target
  const box = target?.getBoundingClientRect()
  const at =
    event instanceof MouseEvent && event.type === 'contextmenu' && (event.clientX || event.clientY)
      ? { x: event.clientX, y: event.clientY }
      : { x: box?.right ?? 0, y: (box?.bottom ?? 0) + 4 }
  objectMenu.value = { refs, ...at, from }
}

/**
 * Opens the menu of the node whose row was clicked, or of the active row of a grid whose menu key
 * was pressed.
 */
export function onRowMenu(event: Event): void {
  const target = event.target as HTMLElement
  const at =
    target.closest('[data-node]') ??
    document.getElementById(target.getAttribute('aria-activedescendant') ?? '')?.closest('[data-node]')
  const node = at?.getAttribute('data-node')
  if (node) openObjectMenu([nodeRef(node)], event)
}
