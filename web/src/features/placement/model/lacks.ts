// What an import lacked, as words and commands.

import type { ImportLack } from '@/api/transfer'

/** Kinds for which there is a sentence about what their absence does; all others own pods. */
const known = [
  'PriorityClass',
  'RuntimeClass',
  'Namespace',
  'Node',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'StorageClass',
  'CSINode',
  'ResourceClaim',
  'ResourceClaimTemplate',
  'DeviceClass',
  'ResourceSlice',
  'PodDisruptionBudget',
  'Service',
  'KubeSchedulerConfiguration',
]

/** The key of the sentence that says what the absence of a kind does. */
export const effectOf = ({ kind }: ImportLack): string => (known.includes(kind) ? kind : 'owner')

/** One command for all kinds that an API has; undefined if that is none or one, which has its own. */
export function commandForAll(lacks: readonly ImportLack[]): string | undefined {
  const resources = [...new Set(lacks.flatMap(({ resource }) => resource ?? []))]
  if (resources.length < 2) return undefined
  return `kubectl get ${resources.join(',')} --all-namespaces -o yaml > more.yaml`
}
