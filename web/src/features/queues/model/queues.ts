// Kueue's queues as the page shows them: bars, sums, keys and colours.

import type { AdmissionHead, KueueView, PendingWorkload, QueueNode, QueueQuota, QuotaHolder, WorkloadRef } from '@/api/types'
import { amountOf } from '@/kubernetes/quantity'

export const keyOf = ({ namespace, name }: WorkloadRef): string => `${namespace}/${name}`

/** The name of a ClusterQueue or Cohort, and a key that tells them apart. */
export const nameOf = (node: QueueNode): string => node.clusterQueue ?? node.cohort ?? ''
export const nodeKey = (node: QueueNode): string => `${node.clusterQueue === undefined ? 'cohort' : 'queue'}/${nameOf(node)}`

/** One stretch of a quota bar, in percent of its width. */
export interface Stretch {
  kind: 'nominal' | 'room' | 'used' | 'borrowed' | 'lent'
  from: number
  width: number
}

export interface QuotaBar {
  stretches: readonly Stretch[]
  /** Where the nominal quota, and the limits if there are any, stand, in percent. */
  nominal: number
  borrowingLimit?: number
  lendingLimit?: number
}

/** The bar of a quota; `most` is the amount at its right end. */
export function barOf({ nominal, used, borrowed = 0, lent = 0, borrowingLimit, lendingLimit }: QueueQuota, most: number): QuotaBar {
  const at = (amount: number) => (most > 0 ? Math.min(100, (Math.max(0, amount) / most) * 100) : 0)
  const stretch = (kind: Stretch['kind'], from: number, to: number): Stretch[] => (at(to) > at(from) ? [{ kind, from: at(from), width: at(to) - at(from) }] : [])
  const within = Math.min(used, nominal)
  return {
    stretches: [
      ...stretch('nominal', 0, nominal),
      ...(borrowingLimit ? stretch('room', nominal, nominal + borrowingLimit) : []),
      ...stretch('used', 0, within),
      ...stretch('borrowed', used - borrowed, used),
      ...stretch('lent', Math.max(within, nominal - lent), nominal),
    ],
    nominal: at(nominal),
    ...(borrowingLimit ? { borrowingLimit: at(nominal + borrowingLimit) } : {}),
    ...(lendingLimit !== undefined ? { lendingLimit: at(nominal - lendingLimit) } : {}),
  }
}

/** The largest amount of each resource, so that bars of one resource can be compared. */
export function mostOf(nodes: readonly QueueNode[]): ReadonlyMap<string, number> {
  const most = new Map<string, number>()
  for (const node of nodes) {
    if (node.clusterQueue === undefined) continue
    for (const { resource, nominal, used, borrowingLimit } of node.resources ?? []) {
      most.set(resource, Math.max(most.get(resource) ?? 0, nominal + (borrowingLimit ?? 0), used))
    }
  }
  return most
}

export const amount = ({ resource }: { resource: string }, value: number): string => amountOf(resource, value)

/** How often each outcome occurs among heads. */
export function outcomesOf(heads: readonly AdmissionHead[]): ReadonlyMap<AdmissionHead['outcome'], number> {
  const counts = new Map<AdmissionHead['outcome'], number>()
  for (const { outcome } of heads) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return counts
}

export const outcomeIcons: Readonly<Record<AdmissionHead['outcome'], string>> = { Reserved: 'check', Preempting: 'pin', Skipped: 'reset', Refused: 'x', Blocked: 'clock' }
export const outcomeTones: Readonly<Record<AdmissionHead['outcome'], string>> = { Reserved: 'pass', Preempting: 'warn', Skipped: 'quiet', Refused: 'rej', Blocked: 'warn' }

/** The workload of a key, among those that wait and those that hold quota. */
export function findWorkload(view: KueueView | undefined, key: string): { pending?: PendingWorkload; holder?: QuotaHolder } {
  return { pending: view?.pending.find(({ workload }) => keyOf(workload) === key), holder: view?.running.find(({ workload }) => keyOf(workload) === key) }
}
