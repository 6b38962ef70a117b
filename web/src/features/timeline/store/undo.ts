// Undo of the last step: what it would do, and doing it. The server knows the steps of every client.

import { shallowRef } from 'vue'
import { getUndo, postUndo, type Undo, type Undone } from '@/api/timeline'
import { useAnswer } from '@/live/answer'
import { useAttempt } from '@/ui/useAttempt'

/** The next undo, as the dialog shows it. */
export function useUndo() {
  const next = useAnswer<Undo, []>((signal) => getUndo(signal))
  const undone = shallowRef<Undone>()
  const { busy, error: failed, attempt } = useAttempt()
  /**
   * Takes back exactly the step that was shown. When another one was made since, the server changes
   * nothing, and the dialog shows that one.
   */
  async function run(): Promise<boolean> {
    const step = next.value.value?.step
    if (!step || busy.value) return false
    const done = await attempt(async () => (undone.value = await postUndo(step.moment)))
    if (!done) await next.ask()
    return done
  }
  return { next: next.value, error: next.error, loading: next.loading, ask: next.ask, run, undone, failed, busy }
}
