// Kueue's queues as the page shows them: bars, sums, keys and colours.

import type { AdmissionHead, KueueView, PendingWorkload, QueueNode, QueueQuota, QuotaHolder } from '@/api/types'
import { scaleTo, type Bar } from '@/features/batch/model/bars'
import { keyOf } from '@/kubernetes/object'

/** The name of a ClusterQueue or Cohort, and a key that tells them apart. */
export const nameOf = (node: QueueNode): string => node.clusterQueue ?? node.cohort ?? ''
export const nodeKey = (node: QueueNode): string =>
  `${node.clusterQueue === undefined ? 'cohort' : 'queue'}/${nameOf(node)}`

/** The bar of a quota; `most` is the amount at its right end. */
export function barOf(
  { nominal, used, borrowed = 0, lent = 0, borrowingLimit, lendingLimit }: QueueQuota,
  most: number
): Bar {
  const { stretch, mark } = scaleTo(most)
  const within = Math.min(used, nominal)
  return {
    stretches: [
      ...stretch('share', 0, nominal),
      ...(borrowingLimit ? stretch('room', nominal, nominal + borrowingLimit) : []),
      ...stretch('used', 0, within),
      ...stretch('over', used - borrowed, used),
      ...stretch('lent', Math.max(within, nominal - lent), nominal),
    ],
    marks: [
      ...mark('share', nominal),
      ...mark('most', borrowingLimit ? nominal + borrowingLimit : undefined),
      ...mark('kept', lendingLimit === undefined ? undefined : nominal - lendingLimit),
    ],
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

export function outcomesOf(heads: readonly AdmissionHead[]): ReadonlyMap<AdmissionHead['outcome'], number> {
  const counts = new Map<AdmissionHead['outcome'], number>()
  for (const { outcome } of heads) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return counts
}

export const outcomeIcons: Readonly<Record<AdmissionHead['outcome'], string>> = {
  Reserved: 'check',
  Preempting: 'pin',
  Skipped: 'reset',
  Refused: 'x',
  Blocked: 'clock',
}
export const outcomeTones: Readonly<Record<AdmissionHead['outcome'], string>> = {
  Reserved: 'pass',
  Preempting: 'warn',
  Skipped: 'quiet',
  Refused: 'rej',
  Blocked: 'warn',
}

export function findWorkload(
  view: KueueView | undefined,
  key: string
): { pending?: PendingWorkload; holder?: QuotaHolder } {
  return {
    pending: view?.pending.find(({ workload }) => keyOf(workload) === key),
    holder: view?.running.find(({ workload }) => keyOf(workload) === key),
  }
}
