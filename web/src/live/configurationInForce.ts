// The scheduler's configuration in force: the effective document, the revisions and the
// feature gates, requested again whenever another revision takes effect.

import { watch, type ShallowRef } from 'vue'
import * as api from '@/api/configuration'
import type { Effective, FeatureGate, Revision } from '@/api/types'
import { useAnswer } from './answer'
import { connection, status } from './status'

/** A value that is requested again whenever another revision takes effect, until stop is called. */
export interface PerRevision<T> {
  value: ShallowRef<T | undefined>
  error: ShallowRef<unknown>
  reload: () => Promise<boolean>
  stop: () => void
}

function perRevision<T>(read: (signal: AbortSignal) => Promise<T>): PerRevision<T> {
  const { value, error, ask: reload } = useAnswer(read)
  const stop = watch(
    [
      () => status.value?.scheduler.revision,
      () => status.value?.scheduler.phase,
      () => connection.value.kind === 'live',
    ],
    () => void reload(),
    { immediate: true }
  )
  return { value, error, reload, stop }
}

export const readEffective = () => perRevision<Effective>(api.getEffective)
export const readRevisions = () => perRevision<Revision[]>(api.listRevisions)
export const readFeatureGates = () => perRevision<FeatureGate[]>(api.listFeatureGates)
