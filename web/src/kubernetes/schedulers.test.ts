import { expect, test } from 'vitest'
import { boardOfScheduler } from './schedulers'

test('schedulers that decide about all of their pods at once have a board, and profiles of kube-scheduler none', () => {
  expect(['kube-batch', 'volcano', 'poseidon', 'default-scheduler', ''].map(boardOfScheduler)).toEqual([
    { name: 'sessions', query: { scheduler: 'kube-batch' } },
    { name: 'sessions', query: { scheduler: 'volcano' } },
    { name: 'sessions', query: { view: 'flow' } },
    undefined,
    undefined,
  ])
})
