import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope } from 'vue'
import { ApiError } from '@/api/http'
import { useQuestion } from './useQuestion'

const busy = new ApiError('too many questions are waiting', 503, [], [], '', [], 3)
const read = vi.fn<(signal: AbortSignal, what: string) => Promise<string>>()

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  read.mockReset()
})

it('asks a busy server again when it says so, and then shows the answer', async () => {
  read.mockRejectedValueOnce(busy).mockResolvedValueOnce('node-a')
  const { ask, value, busy: isBusy, failure } = useQuestion(read)
  await ask('web')
  expect([isBusy.value, failure.value, value.value]).toEqual([true, undefined, undefined])
  await vi.advanceTimersByTimeAsync(2900)
  expect(read).toHaveBeenCalledOnce()
  await vi.advanceTimersByTimeAsync(200)
  expect(read.mock.calls.map(([, what]) => what)).toEqual(['web', 'web'])
  expect([isBusy.value, value.value]).toEqual([false, 'node-a'])
})

it.each<[what: string, error: unknown, waits: boolean]>([
  ['a limit of requests', new ApiError('slow down', 429), true],
  ['an answer that took too long', new ApiError('ask for less', 503), false],
  ['a rejected question', new ApiError('no such node', 422), false],
])('after %s: asks again by itself, or says why not', async (_what, error, waits) => {
  read.mockRejectedValue(error)
  const { ask, busy: isBusy, failure, clear } = useQuestion(read)
  await ask('web')
  expect([isBusy.value, failure.value]).toEqual(waits ? [true, undefined] : [false, error])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(read.mock.calls.length > 1).toBe(waits)
  clear()
})

it('forgets a question that waits when another one is asked or the page is left', async () => {
  read.mockRejectedValueOnce(busy).mockResolvedValueOnce('second').mockRejectedValueOnce(busy)
  const scope = effectScope()
  const question = scope.run(() => useQuestion(read)) ?? useQuestion(read)
  await question.ask('first')
  await question.ask('second')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(read).toHaveBeenCalledTimes(2)
  await question.ask('third')
  scope.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(read).toHaveBeenCalledTimes(3)
})

it('asks again on request', async () => {
  read.mockResolvedValue('x')
  const { ask, again } = useQuestion(read)
  again()
  expect(read).not.toHaveBeenCalled()
  await ask('web')
  again()
  await flushPromises()
  expect(read).toHaveBeenCalledTimes(2)
})
