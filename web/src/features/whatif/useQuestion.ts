// A question to the what-if engine, which answers one at a time: late answers are dropped,
// a busy server is asked again by itself, and leaving the page cancels the question.

import { tryOnScopeDispose } from '@vueuse/core'
import { computed, type ComputedRef } from 'vue'
import { ApiError } from '@/api/http'
import { useAnswer, type Answer } from '@/live/answer'

export interface Question<T, Asked extends unknown[]> extends Answer<T, Asked> {
  /** Other questions are being answered; this one is asked again by itself. */
  busy: ComputedRef<boolean>
  /** Why there is no newer answer, unless the server is only busy. */
  failure: ComputedRef<unknown>
  again: () => void
}

/** Without a word of the server about it (s). */
const usualWait = 2
const longestWait = 10

/** A 503 without Retry-After means that the answer took too long: asking the same again does not help. */
function isBusy(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.code === 429 || (error.code === 503 && error.retryAfter !== undefined))
}

/**
 * As useAnswer. `read` must pass the signal on, so that the server stops when the page does not
 * wait any more.
 */
export function useQuestion<T, Asked extends unknown[]>(
  read: (signal: AbortSignal, ...asked: Asked) => Promise<T>,
  options: { dropOnError?: boolean } = {}
): Question<T, Asked> {
  const answer = useAnswer(read, options)
  let last: Asked | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => clearTimeout(timer)
  tryOnScopeDispose(stop)

  async function ask(...asked: Asked): Promise<boolean> {
    stop()
    last = asked
    const newest = await answer.ask(...asked)
    const { value: error } = answer.error
    if (newest && isBusy(error)) timer = setTimeout(again, Math.min(longestWait, error.retryAfter ?? usualWait) * 1000)
    return newest
  }
  function again() {
    if (last) void ask(...last)
  }
  return {
    ...answer,
    ask,
    again,
    clear() {
      stop()
      last = undefined
      answer.clear()
    },
    busy: computed(() => isBusy(answer.error.value)),
    failure: computed(() => (isBusy(answer.error.value) ? undefined : answer.error.value)),
  }
}
