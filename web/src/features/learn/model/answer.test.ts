import { expect, it } from 'vitest'
import { answerText } from './answer'

it('says an answer as its option does', () => {
  const options = [
    { value: 'a', label: 'Node A' },
    { value: 'b', label: 'Node B' },
  ]
  const said = (
    [
      ['a', options],
      ['free text', undefined],
      [7, undefined],
      [['b', 'c'], options],
      [{ crossedOut: [] }, undefined],
      [undefined, options],
    ] as const
  ).map(([answer, of]) => answerText({ answer, ...(of ? { options: [...of] } : {}) }, ', '))
  expect(said).toEqual(['Node A', 'free text', '7', 'Node B, c', '', ''])
})
