// The whole of a cut text, on hover, focus and touch.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { installWholeText } from './wholeText'

let remove: () => void
const told = () => document.querySelector('.whole-text')?.textContent ?? ''

/** A text in a box that shows `shown` of its `needed` pixels: the test environment has no layout. */
function boxed(text: string, { needed = 200, shown = 100, title = '' } = {}): HTMLElement {
  const parent = document.createElement('p')
  const element = document.createElement('span')
  element.textContent = text
  Object.assign(element.style, { overflowX: 'hidden', overflowY: 'hidden' })
  if (title) parent.title = title
  Object.defineProperties(element, { scrollWidth: { value: needed }, clientWidth: { value: shown } })
  parent.append(element)
  document.body.append(parent)
  return element
}
const point = (element: Element, name: string, pointerType = 'mouse') =>
  element.dispatchEvent(new PointerEvent(name, { bubbles: true, pointerType }))

beforeEach(() => {
  vi.useFakeTimers()
  remove = installWholeText()
  const box = document.querySelector<HTMLElement>('.whole-text')
  if (box) Object.assign(box, { showPopover: () => {}, hidePopover: () => {} })
})
afterEach(() => {
  remove()
  document.body.replaceChildren()
  vi.useRealTimers()
})

it('tells the whole of a cut text under the pointer, and nothing of a text that fits', () => {
  const cut = boxed('checkout-7f9c-x2k4q')
  point(cut, 'pointerover')
  expect(told()).toBe('checkout-7f9c-x2k4q')
  point(boxed('short', { needed: 90 }), 'pointerover')
  expect(told()).toBe('')
})

it('leaves to the mouse a text that a title tells, and tells it to a finger', () => {
  const titled = boxed('node-a1', { title: 'Open node-a1' })
  point(titled, 'pointerover')
  expect(told()).toBe('')
  point(titled, 'pointerdown', 'touch')
  vi.advanceTimersByTime(600)
  expect(told()).toBe('node-a1')
})

it('tells it to a finger that rests on it, not to one that passes', () => {
  const cut = boxed('checkout-7f9c-x2k4q')
  point(cut, 'pointerdown', 'touch')
  point(cut, 'pointerup', 'touch')
  vi.advanceTimersByTime(2000)
  expect(told()).toBe('')
  point(cut, 'pointerdown', 'touch')
  vi.advanceTimersByTime(600)
  expect(told()).toBe('checkout-7f9c-x2k4q')
})

it('tells the cut texts within what the keyboard focuses, until it leaves', () => {
  const cut = boxed('checkout-7f9c-x2k4q')
  const button = document.createElement('button')
  cut.replaceWith(button)
  button.append(cut)
  const matches = button.matches.bind(button)
  button.matches = (selector: string) => selector === ':focus-visible' || matches(selector)
  button.dispatchEvent(new FocusEvent('focusin', { bubbles: true }))
  expect(told()).toBe('checkout-7f9c-x2k4q')
  button.dispatchEvent(new FocusEvent('focusout', { bubbles: true }))
  expect(told()).toBe('')
})

it('tells what belongs to a text besides it, cut or not, and once', () => {
  const more = boxed('Insufficient cpu', { needed: 90 })
  more.dataset.more = '0/3 nodes are available'
  point(more, 'pointerover')
  expect(told()).toBe('0/3 nodes are available')
  const cut = boxed('Insufficient cpu')
  cut.dataset.more = '0/3 nodes are available'
  point(cut, 'pointerover')
  expect(told()).toBe('Insufficient cpu\n0/3 nodes are available')
  const same = boxed('0/3 nodes are available')
  same.dataset.more = '0/3 nodes are available'
  point(same, 'pointerover')
  expect(told()).toBe('0/3 nodes are available')
})

it('tells a name in one piece, wherever the pointer is on it', () => {
  const head = boxed('web-6d9f7c8b5')
  const tail = document.createElement('span')
  tail.textContent = '-x2x9z'
  const name = document.createElement('span')
  name.dataset.name = 'web-6d9f7c8b5-x2x9z'
  head.replaceWith(name)
  name.append(head, tail)
  for (const part of [head, tail]) {
    point(document.body, 'pointerover')
    point(part, 'pointerover')
    expect(told()).toBe('web-6d9f7c8b5-x2x9z')
  }
})

it('takes everything back when it is removed', () => {
  const cut = boxed('checkout-7f9c-x2k4q')
  remove()
  point(cut, 'pointerover')
  expect(document.querySelector('.whole-text')).toBeNull()
})
