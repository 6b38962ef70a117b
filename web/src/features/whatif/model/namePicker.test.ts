import { expect, test } from 'vitest'
import { offered, remembered } from './namePicker'

const names = ['gpu-1', 'gpu-2', 'node-gpu', 'node-1']

test('without words the recent names that still exist come first', () => {
  expect(offered(names, ['node-1', 'gone'], '')).toEqual({
    names: ['node-1', 'gpu-1', 'gpu-2', 'node-gpu'],
    recent: 1,
    more: 0,
  })
})

test('names that begin with the text come before those that contain its words', () => {
  expect(offered(names, ['node-gpu'], 'GPU').names).toEqual(['gpu-1', 'gpu-2', 'node-gpu'])
  expect(offered(names, [], 'gpu no').names).toEqual(['node-gpu'])
  expect(offered(names, [], 'none').names).toEqual([])
})

test('says how many more match than are listed', () => {
  const many = Array.from({ length: 1523 }, (_, i) => `node-${i}`)
  const { names: listed, more } = offered(many, [], 'node')
  expect([listed.length, more]).toEqual([50, 1473])
})

test('keeps the newest five, each once', () => {
  expect(remembered(['a', 'b', 'c', 'd', 'e'], 'c')).toEqual(['c', 'a', 'b', 'd', 'e'])
  expect(remembered(['a', 'b', 'c', 'd', 'e'], 'f')).toEqual(['f', 'a', 'b', 'c', 'd'])
})
