// The objects of batch scheduling: pod groups, those of Coscheduling and Kubernetes' own,
// elastic quotas, and the NUMA nodes of nodes.

import type { Condition, KindInfo, KubeObject, Pod } from '@/api/types'
import { isResource } from './kinds'
import type { ObjectRef } from './object'

/** PodGroup of Coscheduling. */
export const coschedulingGroupKind: KindInfo = {
  group: 'scheduling.x-k8s.io',
  version: 'v1alpha1',
  kind: 'PodGroup',
  resource: 'podgroups',
  namespaced: true,
  verbs: [],
}
/** Kubernetes' own PodGroup, behind the feature gate GenericWorkload. */
export const nativeGroupKind: KindInfo = {
  group: 'scheduling.k8s.io',
  version: 'v1beta1',
  kind: 'PodGroup',
  resource: 'podgroups',
  namespaced: true,
  verbs: [],
}
export const quotaKind: KindInfo = {
  group: 'scheduling.x-k8s.io',
  version: 'v1alpha1',
  kind: 'ElasticQuota',
  resource: 'elasticquotas',
  namespaced: true,
  verbs: [],
}
export const topologyKind: KindInfo = {
  group: 'topology.node.k8s.io',
  version: 'v1alpha2',
  kind: 'NodeResourceTopology',
  resource: 'noderesourcetopologies',
  namespaced: false,
  verbs: [],
}

export interface CoschedulingGroup extends KubeObject {
  spec?: { minMember?: number; minResources?: Record<string, string>; scheduleTimeoutSeconds?: number }
  status?: { phase?: string; occupiedBy?: string }
}

export interface NativeGroup extends KubeObject {
  spec?: {
    schedulingPolicy?: { gang?: { minCount?: number }; basic?: object }
    schedulingConstraints?: { topology?: { key: string }[] }
    workloadRef?: { workloadName?: string }
  }
  status?: { conditions?: Condition[] }
}

export interface ElasticQuota extends KubeObject {
  spec?: { min?: Record<string, string>; max?: Record<string, string> }
  status?: { used?: Record<string, string> }
}

export interface ZoneResource {
  name: string
  capacity: string
  allocatable: string
  available: string
}

export interface TopologyZone {
  name: string
  type: string
  costs?: { name: string; value: number }[]
  attributes?: { name: string; value: string }[]
  resources?: ZoneResource[]
}

export interface NodeResourceTopology extends KubeObject {
  topologyPolicies?: string[]
  attributes?: { name: string; value: string }[]
  zones?: TopologyZone[]
}

/** Which of the two pod groups an object is. */
export type GroupSystem = 'coscheduling' | 'native'

/** The label by which pods join a group of Coscheduling. */
export const groupLabel = 'scheduling.x-k8s.io/pod-group'

/** The group that a pod names, whether or not it exists. */
export function groupOf(pod: Pod): { system: GroupSystem; namespace: string; name: string } | undefined {
  const namespace = pod.metadata.namespace ?? ''
  const native = pod.spec?.schedulingGroup?.podGroupName
  if (native) return { system: 'native', namespace, name: native }
  const name = pod.metadata.labels?.[groupLabel]
  return name ? { system: 'coscheduling', namespace, name } : undefined
}

/** The board that is about objects of a kind; undefined if there is none. */
export type Board = 'gangs' | 'quotas' | 'numa'
export function boardOf(kind: KindInfo): Board | undefined {
  if (isResource(kind, coschedulingGroupKind) || isResource(kind, nativeGroupKind)) return 'gangs'
  if (isResource(kind, quotaKind)) return 'quotas'
  return isResource(kind, topologyKind) ? 'numa' : undefined
}

/** A group in a URL: its name, with the system before it where that is not Coscheduling. */
export function groupText({
  system,
  namespace,
  name,
}: {
  system: GroupSystem
  namespace: string
  name: string
}): string {
  return system === 'native' ? `native/${namespace}/${name}` : `${namespace}/${name}`
}

export const groupRef = ({
  system,
  namespace,
  name,
}: {
  system: GroupSystem
  namespace: string
  name: string
}): ObjectRef => ({ kind: system === 'native' ? nativeGroupKind : coschedulingGroupKind, namespace, name })
