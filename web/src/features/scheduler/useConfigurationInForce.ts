// The configuration in force, followed while the Scheduler page is open: the running document, its
// effect and the revisions.

import { computed, onScopeDispose, type ComputedRef } from 'vue'
import type { Effective, Revision } from '@/api/types'
import { readEffective, readRevisions, type PerRevision } from '@/live/configurationInForce'
import { followRunning, running } from './store/configuration'

type Followed<T> = Omit<PerRevision<T>, 'stop'>

export interface ConfigurationInForce {
  effective: Followed<Effective>
  /** Newest first. */
  revisions: Followed<Revision[]>
  /** The revision number that the next apply will get. */
  next: ComputedRef<number>
  /** Requests both again, after an apply. */
  reload(): void
}

export function useConfigurationInForce(): ConfigurationInForce {
  const effective = readEffective()
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
