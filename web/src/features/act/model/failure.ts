// Nodes that fail on demand: how to detect one, and what happens to its pods.

import type { Node, Pod, Taint, Toleration } from '@/api/types'

/** Controls the virtual kubelet of a node. */
export const failureAnnotation = 'kube-scheduler-simulator.sigs.k8s.io/failure'
export type NodeFailure = 'not-ready' | 'unreachable'

/** The reason of Ready conditions that the simulator sets. */
const onDemand = 'FailureOnDemand'

/** How a node fails on demand, according to its condition; watch clients do not get our annotations. */
export function failureOf(node: Node | undefined): NodeFailure | undefined {
  const ready = node?.status?.conditions?.find((c) => c.type === 'Ready')
  if (ready?.reason !== onDemand) return undefined
  return ready.status === 'Unknown' ? 'unreachable' : 'not-ready'
}

export function taintOf(failure: NodeFailure): string {
  return `node.kubernetes.io/${failure}`
}

export interface Aftermath {
  /** Evicted this many seconds after the taint, soonest first. */
  evicted: readonly { seconds: number; pods: number }[]
  /** Pods that tolerate the taint forever. */
  staying: number
}

/** Ignores pods that have ended: nothing happens to them. */
export function aftermath(pods: Iterable<Pod>, failure: NodeFailure): Aftermath {
  const after = new Map<number, number>()
  let staying = 0
  for (const pod of pods) {
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') continue
    const seconds = toleratedFor(pod.spec?.tolerations ?? [], { key: taintOf(failure) })
    if (seconds === Infinity) staying++
    else after.set(seconds, (after.get(seconds) ?? 0) + 1)
  }
  return {
    evicted: [...after].map(([seconds, n]) => ({ seconds, pods: n })).sort((a, b) => a.seconds - b.seconds),
    staying,
  }
}

/**
 * How many seconds a pod tolerates a NoExecute taint: the shortest of the matching
 * tolerations, 0 without one, Infinity if none of them ends.
 */
export function toleratedFor(
  tolerations: readonly Toleration[],
  { key, value = '' }: Pick<Taint, 'key' | 'value'>
): number {
  const matching = tolerations.filter(
    (t) =>
      (!t.effect || t.effect === 'NoExecute') &&
      (t.operator === 'Exists' ? !t.key || t.key === key : t.key === key && (t.value ?? '') === value)
  )
  if (!matching.length) return 0
  return Math.min(
    ...matching.map((t) => (t.tolerationSeconds === undefined ? Infinity : Math.max(0, t.tolerationSeconds)))
  )
}
