// Drains nodes as kubectl does: cordons them, then evicts pod by pod and retries
// evictions that a disruption budget blocks.

import { messageOf } from '@/api/message'
import type { Pod } from '@/api/types'
import { pool } from '@/api/pool'
import { objectKey } from '@/kubernetes/object'

export interface DrainPlan {
  evict: readonly Pod[]
  /** Pods of DaemonSets, which stay: their controller would recreate them immediately. */
  daemons: readonly Pod[]
  /** Pods among those to evict that nothing recreates. */
  unmanaged: number
}

const mirrored = 'kubernetes.io/config.mirror'
const controllerOf = (pod: Pod) => pod.metadata.ownerReferences?.find((o) => o.controller)
const hasEnded = (pod: Pod) => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'

/** What a drain does with the pods of the nodes. It leaves out pods that are already terminating. */
export function planDrain(pods: Iterable<Pod>): DrainPlan {
  const evict: Pod[] = []
  const daemons: Pod[] = []
  let unmanaged = 0
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp || pod.metadata.annotations?.[mirrored] !== undefined) continue
    const controller = controllerOf(pod)
    if (controller?.kind === 'DaemonSet' && !hasEnded(pod)) {
      daemons.push(pod)
      continue
    }
    if (!controller) unmanaged++
    evict.push(pod)
  }
  return { evict, daemons, unmanaged }
}

/** blocked: a budget refused the eviction, which will be retried. */
export type PodDrain = { kind: 'waiting' | 'evicted' } | { kind: 'blocked' | 'failed'; message: string }

export interface DrainItem {
  key: string
  pod: Pod
  state: PodDrain
}

export interface Drainer {
  cordon(node: string): Promise<unknown>
  evict(pod: Pod): Promise<{ kind: 'evicted' | 'gone' } | { kind: 'refused'; message: string }>
  pause(ms: number, signal: AbortSignal): Promise<void>
}

/** The delay before retrying a blocked eviction, as in kubectl (ms). */
export const retryAfter = 5000
const width = 6

export function drainItems(plan: DrainPlan): DrainItem[] {
  return plan.evict.map((pod) => ({ key: objectKey(pod), pod, state: { kind: 'waiting' } }))
}

/**
 * Cordons the nodes and evicts the pods of items, whose states it updates, calling
 * progress after each step. It ends when nothing is left to try or signal aborts. If
 * cordon throws, it throws the error and evicts nothing.
 */
export async function drain(
  nodes: readonly string[],
  items: readonly DrainItem[],
  drainer: Drainer,
  { progress, signal }: { progress: () => void; signal: AbortSignal }
): Promise<void> {
  for (const node of nodes) await drainer.cordon(node)
  let left = items.filter((item) => item.state.kind !== 'evicted')
  while (left.length && !signal.aborted) {
    await pool(left, width, async (item) => {
      if (signal.aborted) return
      item.state = await tryEvict(item.pod, drainer)
      progress()
    })
    left = left.filter((item) => item.state.kind === 'blocked')
    if (left.length && !signal.aborted) await drainer.pause(retryAfter, signal)
  }
}

async function tryEvict(pod: Pod, drainer: Drainer): Promise<PodDrain> {
  try {
    const answer = await drainer.evict(pod)
    return answer.kind === 'refused' ? { kind: 'blocked', message: answer.message } : { kind: 'evicted' }
  } catch (error) {
    return { kind: 'failed', message: messageOf(error) }
  }
}

export function countStates(items: readonly DrainItem[]): Record<PodDrain['kind'], number> {
  const counts = { waiting: 0, evicted: 0, blocked: 0, failed: 0 }
  for (const { state } of items) counts[state.kind]++
  return counts
}
