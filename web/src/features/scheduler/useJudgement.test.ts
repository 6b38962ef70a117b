import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { nextTick, ref } from 'vue'
import { ApiError } from '@/api/http'
import type { ShadowDraftAnswer } from '@/api/types'
import * as api from '@/api/whatif'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { useJudgement, type JudgementView } from './useJudgement'

const server = mockFunctions(api)
const answer = (judged: number, complete = true) =>
  ({ judged, differ: 0, complete, items: [], verdicts: {} }) as unknown as ShadowDraftAnswer
const text = ref<string | undefined>()
const running = ref(1)
let page: Running<JudgementView>
/** The questions that wait for an answer, the first one first. */
let waiting: {
  document: string
  step: number
  signal: AbortSignal | undefined
  end: (with_: ShadowDraftAnswer | Error) => void
}[]

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  waiting = []
  server.judgeDraft.mockImplementation(
    (document, _last, step, signal) =>
      new Promise((resolve, reject) =>
        waiting.push({
          document,
          step,
          signal,
          end: (result) => (result instanceof Error ? reject(result) : resolve(result)),
        })
      )
  )
  text.value = undefined
  page = await withSetup(() => useJudgement(text, running))
})
afterEach(() => {
  page.unmount()
  vi.useRealTimers()
  vi.resetAllMocks()
})

async function end(result: ShadowDraftAnswer | Error) {
  waiting.shift()?.end(result)
  await flushPromises()
}

it('asks a moment after the last key, and at once when asked to', async () => {
  for (const typed of ['a', 'ab', 'abc']) {
    text.value = typed
    await nextTick()
    await vi.advanceTimersByTimeAsync(200)
  }
  expect(waiting).toEqual([])
  await vi.advanceTimersByTimeAsync(100)
  expect(waiting.map(({ document }) => document)).toEqual(['abc'])
  await end(answer(3))
  text.value = 'abcd'
  await nextTick()
  page.value.now()
  expect(waiting.map(({ document }) => document)).toEqual(['abcd'])
  expect(page.value.stale.value).toBe(true)
  await end(answer(4))
  expect([page.value.value.value?.judged, page.value.stale.value, page.value.asking.value]).toEqual([4, false, false])
})

it('shows each answer while somebody drags, and asks about the newest text next', async () => {
  for (const weight of ['1', '2', '3']) {
    text.value = weight
    await nextTick()
    page.value.now()
  }
  expect(waiting.map(({ document }) => document)).toEqual(['1'])
  await end(answer(1))
  expect(page.value.value.value?.document).toBe('1')
  expect(waiting.map(({ document }) => document)).toEqual(['3'])
  await end(answer(1))
  expect(page.value.value.value?.document).toBe('3')
})

it('goes on until the answer is complete, unless a newer question replaces it', async () => {
  text.value = 'much'
  await nextTick()
  page.value.now()
  await end(answer(10, false))
  await end(answer(30, false))
  expect([page.value.value.value?.judged, waiting[0]?.step]).toEqual([30, 600])
  const { signal } = waiting[0] ?? {}
  text.value = 'other'
  await nextTick()
  page.value.now()
  expect(signal?.aborted).toBe(true)
  expect(waiting.at(-1)?.document).toBe('other')
})

it('leaves mistakes to the check, waits for a busy server, and says what else went wrong', async () => {
  const fails = (code: number) => end(new ApiError('no', code))
  text.value = 'a'
  await nextTick()
  page.value.now()
  await fails(422)
  expect([page.value.failure.value, page.value.asking.value]).toEqual([undefined, false])
  text.value = 'b'
  await nextTick()
  page.value.now()
  await fails(429)
  await vi.advanceTimersByTimeAsync(2000)
  expect(waiting[0]?.document).toBe('b')
  await fails(500)
  expect(page.value.failure.value).toBeInstanceOf(ApiError)
  page.value.again()
  await end(answer(2))
  expect([page.value.failure.value, page.value.value.value?.judged]).toEqual([undefined, 2])
})

it('forgets what it knows when another configuration runs, and asks again', async () => {
  text.value = 'a'
  await nextTick()
  page.value.now()
  await end(answer(1))
  running.value = 2
  await nextTick()
  expect(page.value.value.value).toBeUndefined()
  await vi.advanceTimersByTimeAsync(300)
  await end(answer(2))
  expect(page.value.value.value?.judged).toBe(2)
})

it('asks ever later while the cluster changes too fast for an answer', async () => {
  text.value = 'a'
  await nextTick()
  page.value.now()
  for (let step = 150; step <= 9600; step *= 2) await end(answer(9, false))
  expect([page.value.asking.value, waiting.length]).toEqual([false, 0])
  await vi.advanceTimersByTimeAsync(5000)
  expect(waiting[0]?.step).toBe(9600)
  await end(answer(12, false))
  await vi.advanceTimersByTimeAsync(9000)
  expect(waiting).toEqual([])
  await vi.advanceTimersByTimeAsync(1000)
  await end(answer(20))
  await vi.advanceTimersByTimeAsync(100_000)
  expect([page.value.value.value?.judged, waiting.length]).toEqual([20, 0])
})
