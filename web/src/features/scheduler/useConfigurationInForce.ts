// The configuration in force, followed while the Scheduler page is open: the running document, its
// effect and the revisions.

import { computed, onScopeDispose } from 'vue'
import { readEffective, readRevisions } from '@/live/configurationInForce'
import { followRunning, running } from './store/configuration'

export type ConfigurationInForce = ReturnType<typeof useConfigurationInForce>

export function useConfigurationInForce() {
  const effective = readEffective()
  /** Newest first. */
  const revisions = readRevisions()
  const stopFollowing = followRunning()
  onScopeDispose(() => {
    stopFollowing()
    effective.stop()
    revisions.stop()
  })
  return {
    effective,
    revisions,
    next: computed(() => Math.max(running.value?.revision ?? 0, revisions.value.value?.[0]?.number ?? 0) + 1),
    reload() {
      void revisions.reload()
      void effective.reload()
    },
  }
}
