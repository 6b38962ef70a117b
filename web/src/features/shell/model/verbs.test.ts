import { expect, it, vi } from 'vitest'
import { completions, type Choice, type PaletteVerb } from './verbs'

const choice = (value: string): Choice => ({ value, title: value })
const run = vi.fn()
const taint: PaletteVerb = {
  id: 'taint',
  icon: 'taint',
  title: 'Taint node…',
  next: (chosen) =>
    [
      { ask: 'Node', choices: () => ['node-1', 'node-2', 'gpu-1'].map(choice) },
      {
        ask: 'Taint',
        choices: () => [choice('old=1:NoSchedule')],
        read: (text: string) => (/:No/.test(text) ? choice(text) : undefined),
      },
    ][chosen.length],
  run,
}
const found = (text: string, ...chosen: string[]) =>
  completions({ verb: taint, chosen: chosen.map(choice) }, text).map((c) => c.value)

it('offers the values of one argument after the other', () => {
  expect(found('')).toEqual(['node-1', 'node-2', 'gpu-1'])
  expect(found('gpu')).toEqual(['gpu-1'])
  expect(found('', 'node-1')).toEqual(['old=1:NoSchedule'])
  expect(found('', 'node-1', 'a:NoSchedule')).toEqual([])
})

it('offers what the user types first, if it is a value', () => {
  expect(found('new=2:NoSchedule', 'node-1')).toEqual(['new=2:NoSchedule'])
  expect(found('old', 'node-1')).toEqual(['old=1:NoSchedule'])
  expect(found('nothing', 'node-1')).toEqual([])
})
