import { expect, it } from 'vitest'
import { queues as en } from './words/en.deferred'
import { reasonKinds } from './model/reason'

it('has a text for each kind of reason', () => {
  expect(Object.keys(en.queues.reason).sort()).toEqual([...reasonKinds, 'EqualRefused'].sort())
})
