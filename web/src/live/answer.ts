// Responses may overtake each other: only the one to the newest request counts.

import { tryOnScopeDispose } from '@vueuse/core'
import { shallowRef, type ShallowRef } from 'vue'

export interface Turns {
  /**
   * Starts a turn. Its signal aborts when the next turn starts, on end(), or when the calling scope
   * is disposed.
   */
  next: () => AbortSignal
  end: () => void
}

export function useTurns(): Turns {
  let current: AbortController | undefined
  const end = () => current?.abort()
  tryOnScopeDispose(end)
  return {
    next() {
      end()
      current = new AbortController()
      return current.signal
    },
    end,
  }
}

export interface Answer<T, Question extends unknown[]> {
  value: ShallowRef<T | undefined>
  /** The error of the last request; it stays until one succeeds. */
  error: ShallowRef<unknown>
  loading: ShallowRef<boolean>
  /**
   * Sends a request and discards the results of earlier ones. Resolves with whether this one was
   * still the newest.
   */
  ask: (...question: Question) => Promise<boolean>
  /** Discards the answer and all pending requests. */
  clear: () => void
}

/**
 * The answer to the newest request. It stays during the next request and, unless dropOnError
 * is set, also if that fails. (VueUse's useAsyncState clears the error with each request, so
 * that a repeated error would flicker, and it cannot discard a request.)
 */
export function useAnswer<T, Question extends unknown[]>(
  read: (signal: AbortSignal, ...question: Question) => Promise<T>,
  { dropOnError = false } = {}
): Answer<T, Question> {
  const value = shallowRef<T>()
  const error = shallowRef<unknown>()
  const loading = shallowRef(false)
  const turns = useTurns()
  async function ask(...question: Question): Promise<boolean> {
    const signal = turns.next()
    loading.value = true
    try {
      const found = await read(signal, ...question)
      if (signal.aborted) return false
      value.value = found
      error.value = undefined
    } catch (reason) {
      if (signal.aborted) return false
      if (dropOnError) value.value = undefined
      error.value = reason
    }
    loading.value = false
    return true
  }
  function clear(): void {
    turns.end()
    value.value = undefined
    error.value = undefined
    loading.value = false
  }
  return { value, error, loading, ask, clear }
}
