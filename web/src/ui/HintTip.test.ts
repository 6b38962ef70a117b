import { mount, type VueWrapper } from '@vue/test-utils'
import { nextTick } from 'vue'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import HintTip from './HintTip.vue'

let tip: VueWrapper
const shown = () => document.querySelector('[data-testid="hint"]')?.textContent
function pointer(type: string, pointerType: string, on = 'button') {
  const event = new MouseEvent(type, { bubbles: true })
  Object.defineProperty(event, 'pointerType', { value: pointerType })
  tip.get(on).element.dispatchEvent(event)
}
function make(props: { text: string; plain?: boolean }, slot = '<button>Total</button>') {
  tip = mount(HintTip, { props, slots: { default: slot }, attachTo: document.body })
}

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  tip.unmount()
  vi.useRealTimers()
})

it('shows on hover after a moment, stays on the hint, and goes with the pointer', async () => {
  make({ text: 'The sum' })
  pointer('pointerover', 'mouse')
  expect(shown()).toBeUndefined()
  await vi.advanceTimersByTimeAsync(300)
  expect(shown()).toBe('The sum')
  pointer('pointerout', 'mouse')
  await vi.advanceTimersByTimeAsync(100)
  document.querySelector('[data-testid="hint"]')?.dispatchEvent(new Event('pointerenter'))
  await vi.advanceTimersByTimeAsync(1000)
  expect(shown()).toBe('The sum')
  pointer('pointerout', 'mouse')
  await vi.advanceTimersByTimeAsync(150)
  expect(shown()).toBeUndefined()
})

it('shows on keyboard focus, and Escape hides only the hint', async () => {
  make({ text: 'The sum' })
  const button = tip.get('button').element
  button.matches = (selector) => selector === ':focus-visible'
  button.focus()
  await nextTick()
  expect(shown()).toBe('The sum')
  const behind = vi.fn()
  document.addEventListener('keydown', behind)
  button.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }))
  await nextTick()
  expect(shown()).toBeUndefined()
  expect(behind).not.toHaveBeenCalled()
  button.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }))
  expect(behind).toHaveBeenCalledOnce()
  document.removeEventListener('keydown', behind)
})

it('shows on tap, and goes with the next tap', async () => {
  make({ text: 'The sum' })
  for (const expected of ['The sum', undefined]) {
    pointer('pointerdown', 'touch')
    pointer('click', 'touch')
    await nextTick()
    expect(shown()).toBe(expected)
  }
})

it('describes the control to screen readers, whether it shows or not', () => {
  make({ text: 'The sum' })
  const described = tip.get('button').attributes('aria-describedby') ?? ''
  expect(document.getElementById(described)?.textContent).toBe('The sum')
})

it('makes a control of plain text', async () => {
  make({ text: 'The difference', plain: true }, 'vs. best')
  expect(tip.get('button').text()).toBe('vs. best')
  pointer('pointerdown', 'mouse')
  pointer('click', 'mouse')
  await nextTick()
  expect(shown()).toBe('The difference')
})

it('does nothing without a text', async () => {
  make({ text: '' })
  pointer('pointerover', 'mouse')
  await vi.advanceTimersByTimeAsync(1000)
  expect(shown()).toBeUndefined()
  expect(tip.get('button').attributes('aria-describedby')).toBeUndefined()
})
