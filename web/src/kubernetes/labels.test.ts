import { expect, it } from 'vitest'
import { LabelValues } from './labels'

const distinct = (labels: LabelValues) => Object.fromEntries(labels.distinct())

it('counts the values of each label while nodes are added, changed and deleted', () => {
  const labels = new LabelValues()
  const [a, b] = [
    { zone: 'a', pool: 'ssd' },
    { zone: 'b', pool: 'ssd' },
  ]
  labels.change(undefined, a)
  labels.change(undefined, b)
  expect(distinct(labels)).toEqual({ zone: 2, pool: 1 })
  labels.change(b, { zone: 'a' })
  expect(distinct(labels)).toEqual({ zone: 1, pool: 1 })
  labels.change(a, undefined)
  expect(distinct(labels)).toEqual({ zone: 1 })
})

it('stays the same Map while values move from node to node', () => {
  const labels = new LabelValues()
  labels.change(undefined, { turn: '1' })
  labels.change(undefined, { turn: '2' })
  const before = labels.distinct()
  labels.change({ turn: '1' }, { turn: '3' })
  expect(labels.distinct()).toBe(before)
})
