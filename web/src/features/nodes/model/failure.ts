// Nodes that fail on demand: how one is told, and what becomes of the pods on it.

import type { Node, Pod, Toleration } from '@/api/types'

/** Steers the virtual kubelet of a node. */
export const failureAnnotation = 'kube-scheduler-simulator.sigs.k8s.io/failure'
export type NodeFailure = 'not-ready' | 'unreachable'

/** The reason that the simulator gives for a Ready condition of its own making. */
const onDemand = 'FailureOnDemand'

/** How a node fails on demand. The condition says it: readers of the watch do not get our annotations. */
export function failureOf(node: Node | undefined): NodeFailure | undefined {
  const ready = node?.status?.conditions?.find((c) => c.type === 'Ready')
  if (ready?.reason !== onDemand) return undefined
  return ready.status === 'Unknown' ? 'unreachable' : 'not-ready'
}

export function taintOf(failure: NodeFailure): string {
  return `node.kubernetes.io/${failure}`
}

/** What becomes of pods once their node has the taint. */
export interface Aftermath {
  /** Evicted so many seconds after the taint, soonest first. */
  evicted: readonly { seconds: number; pods: number }[]
  /** They tolerate it for as long as it takes. */
  staying: number
}

/** Pods that have ended are not counted: nothing happens to them. */
export function aftermath(pods: Iterable<Pod>, failure: NodeFailure): Aftermath {
  const after = new Map<number, number>()
  let staying = 0
  for (const pod of pods) {
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') continue
    const seconds = toleratedFor(pod.spec?.tolerations ?? [], taintOf(failure))
    if (seconds === Infinity) staying++
    else after.set(seconds, (after.get(seconds) ?? 0) + 1)
  }
  return { evicted: [...after].map(([seconds, n]) => ({ seconds, pods: n })).sort((a, b) => a.seconds - b.seconds), staying }
}

/**
 * For how many seconds a NoExecute taint without a value is tolerated: the shortest of
 * what matches it, 0 when nothing does, Infinity when none of it has an end.
 */
function toleratedFor(tolerations: readonly Toleration[], key: string): number {
  const matching = tolerations.filter((t) => (!t.effect || t.effect === 'NoExecute') && (t.operator === 'Exists' ? !t.key || t.key === key : t.key === key && !t.value))
  if (!matching.length) return 0
  return Math.min(...matching.map((t) => (t.tolerationSeconds === undefined ? Infinity : Math.max(0, t.tolerationSeconds))))
}
