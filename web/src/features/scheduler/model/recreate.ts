// A cluster as a workspace starts with it when all of its pods are created again.

import type { BranchRequest } from '@/api/branches'

export interface Exported {
  items: object[]
  schedulerConfiguration?: object
}
interface PodLike {
  kind?: string
  spec?: Record<string, unknown>
  status?: { phase?: string }
}
const finished = new Set(['Succeeded', 'Failed'])

/** The exported cluster, in which no pod that still runs has a node. */
export function recreated({
  items,
  schedulerConfiguration,
}: Exported): Pick<BranchRequest, 'objects' | 'configuration'> {
  return {
    objects: items.map((item) => {
      const { kind, spec, status, ...rest } = item as PodLike
      if (kind !== 'Pod' || finished.has(status?.phase ?? '')) return item as Record<string, unknown>
      return { kind, ...rest, spec: { ...spec, nodeName: undefined } }
    }),
    ...(schedulerConfiguration ? { configuration: JSON.stringify(schedulerConfiguration) } : {}),
  }
}
