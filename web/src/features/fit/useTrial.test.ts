import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { shallowRef } from 'vue'
import * as api from '@/api/whatif'
import type { HypotheticalCycle, WhatIfQuestion } from '@/api/types'
import { noHypothesis, type Hypothesis } from '@/features/whatif/model/hypothesis'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { useTrial, type Trial } from './useTrial'

const { askWhatIf } = mockFunctions(api)

const profile = (name: string): Hypothesis => ({ changes: [], profile: name })
const cycleFor = (question: WhatIfQuestion) =>
  ({ profile: question.profile ?? 'own', pod: question.podRef }) as unknown as HypotheticalCycle
const pod = shallowRef<{ namespace: string; name: string } | undefined>()
const hypothesis = shallowRef<Hypothesis>(noHypothesis)
const wanted = shallowRef(true)
let page: Running<Trial>

beforeEach(async () => {
  askWhatIf.mockImplementation((question) =>
    Promise.resolve({ state: { nodes: 3, pods: 0, resourceVersion: '1' }, decisions: [cycleFor(question)] })
  )
  pod.value = { namespace: 'shop', name: 'web' }
  hypothesis.value = noHypothesis
  wanted.value = false
  page = await withSetup(() => useTrial(pod, hypothesis, wanted))
})
afterEach(() => {
  page.unmount()
  vi.resetAllMocks()
})
const asked = () => askWhatIf.mock.calls.map(([question]) => `${question.podRef?.name} ${question.profile ?? '-'}`)

it('asks nothing until it is wanted, and then compares with the state without the hypothesis', async () => {
  await flushPromises()
  expect(asked()).toEqual([])
  hypothesis.value = profile('a')
  wanted.value = true
  await flushPromises()
  expect(asked()).toEqual(['web a', 'web -'])
  expect(page.value.tried.value).toMatchObject({ cycle: { profile: 'a' }, without: { profile: 'own' } })
  hypothesis.value = profile('b')
  await flushPromises()
  expect(asked()).toEqual(['web a', 'web -', 'web b'])
})

it('keeps the answer, marked as outdated, until the next one arrives', async () => {
  wanted.value = true
  await flushPromises()
  expect(page.value.tried.value?.without).toBe(page.value.tried.value?.cycle)
  hypothesis.value = profile('a')
  await Promise.resolve()
  expect([page.value.outdated.value, page.value.tried.value?.cycle.profile]).toEqual([true, 'own'])
  await flushPromises()
  expect([page.value.outdated.value, page.value.tried.value?.cycle.profile]).toEqual([false, 'a'])
})

it('forgets everything about another pod, and when it is not wanted any more', async () => {
  wanted.value = true
  await flushPromises()
  pod.value = { namespace: 'shop', name: 'other' }
  await Promise.resolve()
  expect(page.value.tried.value).toBeUndefined()
  await flushPromises()
  expect(asked()).toEqual(['web -', 'other -'])
  wanted.value = false
  await flushPromises()
  expect(page.value.tried.value).toBeUndefined()
})
