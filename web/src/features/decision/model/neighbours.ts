// The pods before and after a pod in its workload.

import type { Summary } from '@/api/types'

export interface Neighbours {
  /** The newest decision about the pod that was tried last before the given one. */
  before: Summary | undefined
  /** The newest decision about the pod that was tried first after the given one, such as its replacement. */
  after: Summary | undefined
}

/**
 * before and after are the decisions of the workload that started before and after `of`, newest
 * first. A pod that was tried before as well is no later one.
 */
export function neighbours(of: Summary, before: readonly Summary[], after: readonly Summary[]): Neighbours {
  const others = (items: readonly Summary[]) => items.filter((s) => s.pod.uid !== of.pod.uid)
  const earlier = others(before)
  const known = new Set(earlier.map((s) => s.pod.uid))
  const next = others(after).findLast((s) => !known.has(s.pod.uid))
  return { before: earlier[0], after: next && after.find((s) => s.pod.uid === next.pod.uid) }
}
