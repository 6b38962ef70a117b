// Undo of the last step: what it would do, and doing it. The server knows the steps of every client.

import { shallowRef } from 'vue'
import { getUndo, postUndo, type Undo, type Undone } from '@/api/timeline'
import { useAnswer } from '@/live/answer'

/** The next undo, as the dialog shows it. */
export function useUndo() {
  const next = useAnswer<Undo, []>((signal) => getUndo(signal))
  const undone = shallowRef<Undone>()
  const failed = shallowRef<unknown>()
  const busy = shallowRef(false)
  /** Takes back exactly the step that was shown. When another one was made since, the server changes nothing, and the dialog shows that one. */
  async function run(): Promise<boolean> {
    const step = next.value.value?.step
    if (!step || busy.value) return false
    busy.value = true
    failed.value = undefined
    try {
      undone.value = await postUndo(step.moment)
      return true
    } catch (error) {
      failed.value = error
      await next.ask()
      return false
    } finally {
      busy.value = false
    }
  }
  return { next: next.value, error: next.error, loading: next.loading, ask: next.ask, run, undone, failed, busy }
}
