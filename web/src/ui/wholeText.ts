// The whole of a text that its box cuts, shown on hover, focus and touch, and with it what
// data-more adds. One listener for the page: a title on each of ten thousand cells would cost
// more than it tells.

import { beside } from './beside'
import { wholeNames } from './copiedNames'

/** The box stays this far from the window's sides, in px. */
const margin = 6
/** How far above the pointer's target a cut text is looked for. */
const reach = 4
/** A finger that rests this long, in ms, asks for the text instead of the action. */
const press = 500

/** Cells whose texts belong together: a cut name within one cuts all of it. */
const cells = '.ell, [data-more], [data-name]'

/**
 * True if the box, or that of a name within it, hides a part of its text, and nothing lets it
 * scroll there.
 */
function isCut(element: Element): boolean {
  const { overflowX, overflowY } = getComputedStyle(element)
  const hides = (overflow: string) => overflow === 'hidden' || overflow === 'clip'
  if (
    (hides(overflowX) && element.scrollWidth > element.clientWidth) ||
    (hides(overflowY) && element.scrollHeight > element.clientHeight + 2)
  )
    return true
  return (
    element.matches(cells) &&
    [...element.querySelectorAll(element.matches('[data-name]') ? ':scope > *' : '[data-name] > *')].some(isCut)
  )
}

/**
 * What the box tells at an element: the whole text if it is cut there or just above, and what
 * belongs to it besides. A title tells a mouse already, but neither a finger nor the keyboard.
 */
function toldAt(target: Element, mouse: boolean): string {
  let text = ''
  for (let at: Element | null = target, steps = 0; at && steps < reach; at = at.parentElement, steps++) {
    if (at.matches('.cm-editor, main, dialog, body')) break
    if (!text && at.textContent?.trim() && at.childElementCount < 12 && isCut(at)) {
      if (mouse && titled(at)) return ''
      text = textOf(at)
    }
    const more = (at as HTMLElement).dataset.more
    if (more) return [...new Set([text, more].filter(Boolean))].join('\n')
  }
  return text
}

/** The text of an element; that of a name, also for one of its two parts, is in one piece. */
function textOf(element: Element): string {
  const name = element.closest<HTMLElement>('[data-name]')
  if (name) return name.dataset.name ?? ''
  return squeezed(
    wholeNames((element as HTMLElement).innerText || element.textContent || '', [
      ...element.querySelectorAll<HTMLElement>('[data-name]'),
    ])
  )
}

function titled(element: Element): boolean {
  const text = textOf(element)
  for (let at: Element | null = element, steps = 0; at && steps < reach; at = at.parentElement, steps++)
    if (at.getAttribute('title')?.includes(text)) return true
  return false
}

/** All cut texts within a focused element, which is how the keyboard reaches them. */
function within(target: Element): string {
  if (target.childElementCount > 60 || target.matches('main, dialog, [role="grid"], [role="listbox"], ul, .cm-content'))
    return ''
  const cut = [target, ...target.querySelectorAll('*')].filter(
    (element) => element.textContent?.trim() && isCut(element)
  )
  // An element that holds a cut one tells the same text again.
  const innermost = cut.filter((element) => !cut.some((other) => other !== element && element.contains(other)))
  return [...new Set(innermost.map(textOf).filter(Boolean))].join('\n')
}

const squeezed = (text: string) => text.replace(/\s+/g, ' ').trim()

/**
 * Installs the listeners; the returned function removes them. The box is a popover, so that it lies
 * above dialogs, too.
 */
export function installWholeText(root: Document = document): () => void {
  const box = root.createElement('div')
  box.className = 'whole-text'
  box.setAttribute('role', 'tooltip')
  box.setAttribute('popover', 'manual')
  root.body.append(box)
  let timer: ReturnType<typeof setTimeout> | undefined

  function hide() {
    clearTimeout(timer)
    if (!box.textContent) return
    box.textContent = ''
    box.hidePopover()
  }
  function show(target: Element, text: string) {
    if (box.textContent === text) return
    hide()
    if (!text) return
    box.textContent = text
    box.showPopover()
    place(box, target.getBoundingClientRect())
  }
  const onOver = (event: PointerEvent) => {
    if (event.target instanceof Element && event.pointerType !== 'touch') show(event.target, toldAt(event.target, true))
  }
  const onFocus = (event: FocusEvent) => {
    if (event.target instanceof Element && event.target.matches(':focus-visible'))
      show(event.target, within(event.target))
  }
  const onDown = (event: PointerEvent) => {
    hide()
    const { target } = event
    if (event.pointerType === 'touch' && target instanceof Element)
      timer = setTimeout(() => show(target, toldAt(target, false)), press)
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') hide()
  }
  const lift = () => clearTimeout(timer)
  const events: [string, (event: never) => void][] = [
    ['pointerover', onOver],
    ['focusin', onFocus],
    ['focusout', hide],
    ['pointerdown', onDown],
    ['pointerup', lift],
    ['pointercancel', lift],
    ['scroll', hide],
    ['keydown', onKey],
  ]
  // Scrolling does not bubble.
  const view = root.defaultView ?? window
  for (const [name, listener] of events)
    view.addEventListener(name, listener as EventListener, { capture: name === 'scroll', passive: true })
  return () => {
    for (const [name, listener] of events)
      view.removeEventListener(name, listener as EventListener, { capture: name === 'scroll' })
    hide()
    box.remove()
  }
}

function place(box: HTMLElement, target: DOMRect): void {
  const { left, top } = beside(target, box.getBoundingClientRect(), margin)
  box.style.left = `${left}px`
  box.style.top = `${top}px`
}
