// The QueueSort plugin of a cycle's profile.

import { computed, onScopeDispose, type ComputedRef, type Ref } from 'vue'
import type { Cycle } from '@/api/types'
import { readEffective } from '@/live/configurationInForce'

/**
 * Records do not contain the plugin, but the configuration does if the cycle ran with the current
 * one; undefined otherwise.
 */
export function useQueueSort(cycle: Ref<Cycle | undefined>): ComputedRef<string | undefined> {
  const { value: effective, stop } = readEffective()
  onScopeDispose(stop)
  return computed(() => {
    const c = cycle.value
    if (!c || c.revision !== effective.value?.revision) return undefined
    const profile = effective.value?.profiles.find((p) => p.schedulerName === c.profile)
    return profile?.extensionPoints.find((point) => point.name === 'queueSort')?.plugins[0]?.name
  })
}
