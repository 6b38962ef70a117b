// What a user started: whether it still runs, and why it failed.

import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'

export interface Attempt {
  busy: Ref<boolean>
  /** Why the last action failed; the next one clears it. */
  error: ShallowRef<unknown>
  /** Runs an action. Resolves with whether it succeeded. */
  attempt(action: () => Promise<unknown>): Promise<boolean>
}

/** `failed` is called with each error, such as notifyFailure where the page has no place for one. */
export function useAttempt(failed?: (error: unknown) => void): Attempt {
  const busy = ref(false)
  const error = shallowRef<unknown>()
  async function attempt(action: () => Promise<unknown>): Promise<boolean> {
    busy.value = true
    error.value = undefined
    try {
      await action()
      return true
    } catch (reason) {
      error.value = reason
      failed?.(reason)
      return false
    } finally {
      busy.value = false
    }
  }
  return { busy, error, attempt }
}
