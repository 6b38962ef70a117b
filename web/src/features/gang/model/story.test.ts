import { expect, it } from 'vitest'
import { storyOf } from './story'
import { attempt, noNode, scheduled, sentBack, tooFew, waiting } from './testing'

const members = new Set(['a', 'b', 'c'])
const newestFirst = [
  noNode('c', 9),
  waiting('b', 8),
  waiting('a', 7),
  sentBack('other', 6),
  tooFew('a', 2),
  tooFew('b', 1),
  tooFew('a', 0),
]

it('folds equal attempts in a row, oldest first, and leaves other pods out', () => {
  const { steps } = storyOf(newestFirst, members)
  expect(steps.map(({ kind, pods, plugin }) => [kind, pods, plugin])).toEqual([
    ['held', ['a', 'b'], 'Coscheduling'],
    ['waited', ['a', 'b'], 'Coscheduling'],
    ['noNode', ['c'], 'NodeResourcesFit'],
  ])
  expect(steps.map(({ at, last }) => [at, last.startTime].map((time) => time.slice(17, 19)))).toEqual([
    ['00', '02'],
    ['07', '08'],
    ['09', '09'],
  ])
})

it('tells rounds that repeat once', () => {
  const round = (at: number) => [sentBack('a', at + 2), noNode('b', at + 1), waiting('a', at)]
  const { steps } = storyOf([scheduled('c', 99), ...round(6), ...round(3), ...round(0)], members)
  expect(steps.map(({ kind, pods, times }) => [kind, pods, times])).toEqual([
    ['waited', ['a'], 3],
    ['noNode', ['b'], 3],
    ['sentBack', ['a'], 3],
    ['scheduled', ['c'], 1],
  ])
  expect(steps[0]?.last.startTime.slice(17, 19)).toBe('06')
})

it('keeps the newest steps and counts the others', () => {
  const { steps, dropped } = storyOf([scheduled('a', 3), sentBack('a', 2), noNode('b', 1)], members, 2)
  expect([steps.map(({ kind }) => kind), dropped]).toEqual([['sentBack', 'scheduled'], 1])
})

it('tells simulated members from those that were not tried', () => {
  const { steps } = storyOf(
    [
      attempt('b', 2, { outcome: 'unschedulable' }),
      attempt('a', 1, { outcome: 'unschedulable', selectedNode: 'n' }),
      attempt('c', 0, { outcome: 'unschedulable', nominatedNode: 'n' }),
    ],
    members
  )
  expect(steps.map(({ kind }) => kind)).toEqual(['preempts', 'simulated'])
})
