// Answers of the server that come late: the newest question counts, however the answers
// overtake each other.

import { tryOnScopeDispose } from '@vueuse/core'
import { shallowRef, type ShallowRef } from 'vue'

export interface Turns {
  /** Starts a turn. Its signal is aborted when the next turn starts, when all end, and when the calling scope does. */
  next: () => AbortSignal
  end: () => void
}

/** Turns of which only the newest counts. */
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
  /** Why the newest question failed; it stays until one has been answered. */
  error: ShallowRef<unknown>
  loading: ShallowRef<boolean>
  /** Asks, and drops what earlier questions find from now on. Resolves with whether this one still counts. */
  ask: (...question: Question) => Promise<boolean>
  /** Drops the answer and all questions. */
  clear: () => void
}

/**
 * The answer to the newest question. It stays while the next one is under way and, unless
 * dropOnError, when that fails. (VueUse's useAsyncState drops the error with each question,
 * so that the error of a repeated one would flicker, and cannot drop a question.)
 */
export function useAnswer<T, Question extends unknown[]>(read: (signal: AbortSignal, ...question: Question) => Promise<T>, { dropOnError = false } = {}): Answer<T, Question> {
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
