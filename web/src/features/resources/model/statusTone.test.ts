import { expect, it } from 'vitest'
import { isEmptyCell, lookOfStatus } from './statusTone'

it('marks a pending pod that has a node as placed', () => {
  expect(lookOfStatus('Pending')).toEqual({ icon: 'clock', tone: 'warn' })
  expect(lookOfStatus('Pending', true)).toEqual({ icon: 'pin', tone: 'pass' })
  expect(lookOfStatus('Running', true)).toEqual({ icon: 'check', tone: 'pass' })
})

it('shows a gate if scheduling is disabled, in the worst tone of the words', () => {
  expect(lookOfStatus('Ready,SchedulingDisabled')).toEqual({ icon: 'gate', tone: 'warn' })
  expect(lookOfStatus('NotReady,SchedulingDisabled')).toEqual({ icon: 'gate', tone: 'rej' })
  expect(lookOfStatus('SchedulingGated')).toEqual({ icon: 'gate', tone: 'warn' })
})

it('has no glyph for unknown words', () => {
  expect(lookOfStatus('Sideways')).toBeUndefined()
})

it('distinguishes an empty cell from a zero', () => {
  expect(['', '<none>', '<unset>', '<unknown>'].every(isEmptyCell)).toBe(true)
  expect(isEmptyCell('0')).toBe(false)
})
