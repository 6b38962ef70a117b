import { expect, it } from 'vitest'
import { keyMove } from './playhead'
import { clock, step } from './testing'

const at = (seconds: number) => Date.parse(clock(seconds))
const axis = { from: at(0), to: at(200) }
const steps = [step(10), step(50)]

it.each([
  ['ArrowLeft', 30, 29],
  ['ArrowRight', 30, 31],
  ['ArrowLeft', 0, 0],
  ['ArrowRight', 199.5, 'now'],
  ['PageUp', 30, 10],
  ['PageUp', 5, 0],
  ['PageDown', 30, 50],
  ['PageDown', 60, 'now'],
  ['Home', 30, 0],
  ['End', 30, 'now'],
] as const)('%s at %d s leads to %s', (key, from, to) => {
  const moved = keyMove(key, at(from), axis, steps)
  expect(typeof moved === 'number' ? (moved - at(0)) / 1000 : moved).toBe(to)
})

it('leaves other keys alone', () => {
  expect(keyMove('a', at(30), axis, steps)).toBeUndefined()
})
