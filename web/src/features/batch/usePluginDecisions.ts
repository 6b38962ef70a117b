// The decisions in which a plugin rejected the pod or nodes: those of the live results, and
// older ones that the server still has.

import { computed, type ComputedRef } from 'vue'
import { listResults } from '@/api/simulator'
import type { Summary } from '@/api/types'
import { useAnswer } from '@/live/answer'
import { results } from '@/live/watched'

const mostOlder = 100

/** All live results, and after them the older decisions of the plugin; newest first. */
export function usePluginDecisions(plugin: string): ComputedRef<readonly Summary[]> {
  const older = useAnswer(
    async (signal, name: string) => (await listResults({ plugin: name, limit: mostOlder }, signal)).items
  )
  void older.ask(plugin)
  return computed(() => {
    const live = results.value.items
    const known = new Set(live.map(({ pod, attempt }) => `${pod.uid}/${attempt}`))
    return [...live, ...(older.value.value ?? []).filter(({ pod, attempt }) => !known.has(`${pod.uid}/${attempt}`))]
  })
}
