// Which PreEnqueue plugins keep a pod out of the scheduler's queue before its first
// attempt, and what has to happen before they let it in.

import type { Pod, PluginResult } from '@/api/types'

/** What has to happen, as far as it is known of Kubernetes' own plugins. */
export type Lift =
  /** These gates are removed. */
  | { kind: 'gates'; gates: string[] }
  /** The pod's group exists and has as many pods as it needs. */
  | { kind: 'group'; group: string }
  /** These resource claims exist. */
  | { kind: 'claims'; claims: string[] }
  /** The pods that preemption removes are gone. */
  | { kind: 'victims' }
  /** An event that the plugin asked to be woken by. */
  | { kind: 'event' }

export interface Holder {
  plugin: string
  reasons: string[]
  lift: Lift
}

/** answers are what PreEnqueue plugins said. Gates stand in the pod itself, so they are known without an answer. */
export function holdersOf(pod: Pod, answers: readonly PluginResult[]): Holder[] {
  const gates = (pod.spec?.schedulingGates ?? []).map((g) => g.name)
  const known: readonly { plugin: string; reasons?: string[] }[] = gates.length && !answers.some((a) => a.plugin === gatesPlugin) ? [{ plugin: gatesPlugin }, ...answers] : answers
  return known.map(({ plugin, reasons = [] }) => ({ plugin, reasons, lift: liftOf(plugin, pod, gates) }))
}

const gatesPlugin = 'SchedulingGates'

function liftOf(plugin: string, pod: Pod, gates: string[]): Lift {
  const group = pod.spec?.schedulingGroup?.podGroupName
  const claims = pod.spec?.resourceClaims ?? []
  if (plugin === gatesPlugin && gates.length) return { kind: 'gates', gates }
  if (plugin === 'GangScheduling' && group) return { kind: 'group', group }
  if (plugin === 'DynamicResources' && claims.length) return { kind: 'claims', claims: claims.map((c) => c.resourceClaimName ?? c.name) }
  if (plugin === 'DefaultPreemption') return { kind: 'victims' }
  return { kind: 'event' }
}
