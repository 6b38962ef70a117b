// Which PreEnqueue plugins keep a pod out of the scheduling queue before its first
// attempt, and what must happen before they admit it.

import type { Pod, PluginResult } from '@/api/types'

/** What must happen, as far as known for the plugins of Kubernetes. */
export type Lift =
  | { kind: 'gates'; gates: string[] }
  /** The pod's group must exist with its minimum number of pods. */
  | { kind: 'group'; group: string }
  | { kind: 'claims'; claims: string[] }
  | { kind: 'victims' }
  /** An event that the plugin registered for must occur. */
  | { kind: 'event' }

export interface Holder {
  plugin: string
  reasons: string[]
  lift: Lift
}

/**
 * `answers` are the results of the PreEnqueue plugins. Gates are in the pod, so they are known
 * without them.
 */
export function holdersOf(pod: Pod, answers: readonly PluginResult[]): Holder[] {
  const gates = (pod.spec?.schedulingGates ?? []).map((g) => g.name)
  const known: readonly { plugin: string; reasons?: string[] }[] =
    gates.length && !answers.some((a) => a.plugin === gatesPlugin) ? [{ plugin: gatesPlugin }, ...answers] : answers
  return known.map(({ plugin, reasons = [] }) => ({ plugin, reasons, lift: liftOf(plugin, pod, gates) }))
}

const gatesPlugin = 'SchedulingGates'

function liftOf(plugin: string, pod: Pod, gates: string[]): Lift {
  const group = pod.spec?.schedulingGroup?.podGroupName
  const claims = pod.spec?.resourceClaims ?? []
  if (plugin === gatesPlugin && gates.length) return { kind: 'gates', gates }
  if (plugin === 'GangScheduling' && group) return { kind: 'group', group }
  if (plugin === 'DynamicResources' && claims.length)
    return { kind: 'claims', claims: claims.map((c) => c.resourceClaimName ?? c.name) }
  if (plugin === 'DefaultPreemption') return { kind: 'victims' }
  return { kind: 'event' }
}
