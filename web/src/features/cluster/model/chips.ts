// The text of a pod's chip: pods of one owner share a colour and most of their name, so the end is enough.

import type { Pod } from '@/api/types'
import { ownerOf } from '@/kubernetes/pods'

const short = 12

/**
 * The whole name if it is short or nothing tells the owner; otherwise what distinguishes the pod
 * from its siblings.
 */
export function chipText(pod: Pod): string {
  const { name } = pod.metadata
  const owner = ownerOf(pod)
  if (name.length <= short || !owner || !name.startsWith(`${owner.name}-`)) return name
  return `…${name.slice(name.lastIndexOf('-') + 1)}`
}
