// The whole text of what is cut, as a tooltip and in the clipboard: one handler for all of
// the application's elements with an ellipsis, because most are not cut.

import { useEventListener } from '@vueuse/core'

/** Elements that have their text cut; data-more holds what belongs to the tooltip besides it. */
const cuttable = '.ell, [data-more]'

/** The tooltip of an element: its text if that is cut, and what it adds; '' for none. */
function titleOf(element: HTMLElement): string {
  const cut = element.scrollWidth > element.clientWidth || [...element.querySelectorAll<HTMLElement>('.h')].some((part) => part.scrollWidth > part.clientWidth)
  const text = element.textContent?.replace(/\s+/g, ' ').trim() ?? ''
  const more = element.dataset.more ?? ''
  return [cut ? text : '', more === text ? '' : more].filter(Boolean).join('\n')
}

/** The text with the names of the elements in one piece. */
export function wholeNames(text: string, names: readonly HTMLElement[]): string {
  return names.reduce((all, { dataset, children }) => all.replaceAll([...children].map((part) => part.textContent).join('\n'), dataset.name ?? ''), text)
}

/** Sets the tooltips of cut texts under the pointer and the focus. An element's own title stays. */
export function useCutTitles(): void {
  const given = new WeakSet<HTMLElement>()
  const show = (event: Event) => {
    const element = (event.target as HTMLElement | null)?.closest?.<HTMLElement>(cuttable)
    if (!element || (element.title && !given.has(element))) return
    given.add(element)
    const title = titleOf(element)
    if (title !== element.title) element.title = title
  }
  useEventListener(document, 'pointerover', show, { passive: true })
  useEventListener(document, 'focusin', show, { passive: true })
  // A browser copies the two parts of a name as two lines.
  useEventListener(document, 'copy', (event) => {
    const selection = document.getSelection()
    const text = selection?.toString() ?? ''
    const whole = wholeNames(text, [...document.querySelectorAll<HTMLElement>('[data-name]')].filter((name) => selection?.containsNode(name, true)))
    if (whole === text || !event.clipboardData) return
    event.clipboardData.setData('text/plain', whole)
    event.preventDefault()
  })
}
