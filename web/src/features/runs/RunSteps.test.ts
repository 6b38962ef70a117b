import { mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeAll, expect, it } from 'vitest'
import type { RunResult, RunStep } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import RunSteps from './RunSteps.vue'

/** What the page says of a step's result. */
function said(step: Partial<RunStep>): string {
  const result = { steps: [{ number: 1, line: 3, verb: 'wait', atSeconds: 0, ...step }] } as RunResult
  const page = mount(RunSteps, {
    props: { result },
    global: { plugins: [i18n], stubs: { RouterLink: RouterLinkStub } },
  })
  return page.get('tbody tr').findAll('td')[3]?.text() ?? ''
}

beforeAll(loadDeferredMessages)
afterEach(() => {
  i18n.global.locale.value = 'en'
})

it('says what has become of the pods in the reader’s language', () => {
  const some = { said: '2 of 4 pods have a node', placed: { pods: 4, withNode: 2, pending: ['a', 'b'], gone: 1 } }
  const many = { said: '0 of 1200 pods have a node', placed: { pods: 1200, withNode: 0 } }
  expect([said(some), said(many)]).toEqual([
    '2 of 4 pods have a node, a, b pending, 1 pod gone',
    '0 of 1,200 pods have a node, 1,200 pending',
  ])
  i18n.global.locale.value = 'ja'
  expect([said(some), said(many)]).toEqual([
    '4 個中 2 個の Pod にノードがあります、a、b は割り当て待ち、1 個の Pod がなくなりました',
    '1,200 個中 0 個の Pod にノードがあります、1,200 個は割り当て待ち',
  ])
})

it('counts the expectations that hold', () => {
  const expectation = (passed: boolean) => ({ line: 4, that: 'true', passed })
  expect(said({ verb: 'expect', said: '1 of 2 hold', expectations: [expectation(true), expectation(false)] })).toBe(
    '1 of 2 hold'
  )
})

it('shows what only the server says, and errors', () => {
  expect(said({ said: '3 Nodes' })).toBe('3 Nodes')
  expect(said({ error: 'it did not become true within 5s', failed: true })).toBe('it did not become true within 5s')
})
