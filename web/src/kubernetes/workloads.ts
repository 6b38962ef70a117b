// The controllers of pods that Kubernetes itself has: which of them can be scaled and restarted.

import type { KindInfo } from '@/api/types'
import type { ObjectRef } from './object'
import type { Owner } from './pods'

const builtin = (group: string, kind: string): KindInfo => ({
  group,
  version: 'v1',
  kind,
  resource: `${kind.toLowerCase()}s`,
  namespaced: true,
  verbs: [],
})

export const deploymentKind = builtin('apps', 'Deployment')
export const workloadKinds: readonly KindInfo[] = [
  deploymentKind,
  builtin('apps', 'StatefulSet'),
  builtin('apps', 'DaemonSet'),
  builtin('apps', 'ReplicaSet'),
  builtin('', 'ReplicationController'),
  builtin('batch', 'Job'),
]

const named = (names: readonly string[]) => (kind: KindInfo) =>
  names.includes(kind.kind) && workloadKinds.some((w) => w.kind === kind.kind && w.group === kind.group)

export const isWorkload = named(workloadKinds.map((w) => w.kind))
/** As `kubectl scale`, whose Jobs are deprecated. */
export const canScale = named(['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController'])
/** As `kubectl rollout restart`. */
export const canRestart = named(['Deployment', 'StatefulSet', 'DaemonSet'])

/** The annotation of the pod template that `kubectl rollout restart` sets. */
export const restartedAt = 'kubectl.kubernetes.io/restartedAt'

/** The workload of pods; undefined when the owner is of another kind, or only a label. */
export function workloadOf({ kind, namespace, name }: Owner): ObjectRef | undefined {
  const found = workloadKinds.find((w) => w.kind === kind)
  return found && { kind: found, namespace, name }
}
