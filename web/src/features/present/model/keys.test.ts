import { expect, it } from 'vitest'
import { clampStep, commandOf, stepAfter } from './keys'

const press = (key: string, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more })

it('follows the arrows and the keys of a clicker', () => {
  expect(['ArrowRight', 'PageDown', ' ', 'Enter'].map((key) => commandOf(press(key), false))).toEqual([
    'next',
    'next',
    'next',
    'next',
  ])
  expect(['ArrowLeft', 'PageUp', 'Backspace'].map((key) => commandOf(press(key), false))).toEqual([
    'previous',
    'previous',
    'previous',
  ])
  expect(['Home', 'End', 'b', '.', 'f'].map((key) => commandOf(press(key), false))).toEqual([
    'first',
    'last',
    'blank',
    'blank',
    'fullScreen',
  ])
})

it('leaves the browser its keys, and a button its own', () => {
  expect([
    commandOf(press('ArrowLeft', { altKey: true }), false),
    commandOf(press('f', { ctrlKey: true }), false),
    commandOf(press('Tab'), false),
  ]).toEqual([undefined, undefined, undefined])
  expect([commandOf(press(' '), true), commandOf(press('Enter'), true), commandOf(press('PageDown'), true)]).toEqual([
    undefined,
    undefined,
    'next',
  ])
})

it('stays within the steps', () => {
  expect([
    stepAfter('next', 3, 3),
    stepAfter('previous', 1, 3),
    stepAfter('last', 1, 3),
    stepAfter('first', 3, 3),
  ]).toEqual([3, 1, 3, 1])
  expect([clampStep(NaN, 5), clampStep(0, 5), clampStep(99, 5), clampStep(2.9, 5), clampStep(1, 0)]).toEqual([
    1, 1, 5, 2, 1,
  ])
})
