// Pods that taint eviction will delete: when, and because of which taint.

import type { Node, Pod, Taint } from '@/api/types'
import { toleratedFor } from './failure'

export interface PodEviction {
  /** When the pod is deleted (ms); undefined if the taint does not tell when it was added. */
  at: number | undefined
  taint: Taint
  /** How long the pod tolerates the taint. */
  seconds: number
}

/**
 * What the taint eviction controller will do to a pod of the node; undefined if nothing. Without
 * a toleration it acts at once. Otherwise it waits from when the taint was added, or the pod
 * bound, for the shortest of the tolerations. It keeps to the first of several such taints.
 */
export function evictionOf(pod: Pod, node: Node | undefined): PodEviction | undefined {
  const { phase } = pod.status ?? {}
  if (
    !node ||
    pod.spec?.nodeName !== node.metadata.name ||
    pod.metadata.deletionTimestamp ||
    phase === 'Succeeded' ||
    phase === 'Failed'
  )
    return undefined
  const bound = Date.parse(
    pod.status?.conditions?.find((c) => c.type === 'PodScheduled')?.lastTransitionTime ??
      pod.metadata.creationTimestamp ??
      ''
  )
  const found = (node.spec?.taints ?? []).flatMap((taint): PodEviction[] => {
    const seconds = taint.effect === 'NoExecute' ? toleratedFor(pod.spec?.tolerations ?? [], taint) : Infinity
    if (seconds === Infinity) return []
    const from = Math.max(Date.parse(taint.timeAdded ?? ''), bound || 0)
    return [{ at: Number.isNaN(from) ? undefined : from + seconds * 1000, taint, seconds }]
  })
  const startOf = ({ at, seconds }: PodEviction) => (seconds ? (at ?? Infinity) - seconds * 1000 : -Infinity)
  return found.sort((a, b) => startOf(a) - startOf(b))[0]
}

export interface NodeEvictions {
  pods: readonly Pod[]
  /** When the first pod is deleted (ms); undefined if no taint tells when it was added. */
  first: number | undefined
}

/** The pods of a node that the controller will delete, the first ones first; undefined if it deletes none. */
export function evictionsOn(pods: Iterable<Pod>, node: Node | undefined): NodeEvictions | undefined {
  const found = [...pods].flatMap((pod) => {
    const eviction = evictionOf(pod, node)
    return eviction ? [{ pod, at: eviction.at ?? Infinity }] : []
  })
  if (!found.length) return undefined
  found.sort((a, b) => a.at - b.at)
  const first = found[0]?.at
  return { pods: found.map(({ pod }) => pod), first: first === Infinity ? undefined : first }
}

/** The time left as people count down: "4:12", or seconds below a minute; 0 when the time is over. */
export function timeLeft(until: number, now: number): { clock: string } | { seconds: number } {
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  if (seconds < 60) return { seconds }
  const two = (n: number) => String(n).padStart(2, '0')
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return { clock: hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}` }
}
