// Where objects and the lists about them are in the application: route locations, which are plain data.

import type { PodRef } from '@/api/types'
import { boardOf, groupText, nativeGroupKind } from '@/kubernetes/batch'
import { isResource, kindSlug, nodeKind, podKind } from '@/kubernetes/kinds'
import type { ObjectRef } from '@/kubernetes/object'
import { workloadKinds } from '@/kubernetes/workloads'

export interface Place {
  name: string
  params?: Record<string, string>
  query?: Record<string, string>
}

export const nodeRef = (name: string): ObjectRef => ({ kind: nodeKind, namespace: undefined, name })
export const podRef = ({ namespace, name }: Pick<PodRef, 'namespace' | 'name'>): ObjectRef => ({
  kind: podKind,
  namespace,
  name,
})

/** The object of an event, if it is of a kind with pages of its own. */
export function refOf({
  kind,
  namespace,
  name,
}: {
  kind: string
  namespace: string
  name: string
}): ObjectRef | undefined {
  if (kind === 'Node') return nodeRef(name)
  if (kind === 'Pod') return podRef({ namespace, name })
  const workload = workloadKinds.find((w) => w.kind === kind)
  return workload && { kind: workload, namespace, name }
}

const selected = ({ kind, namespace, name }: ObjectRef): Place => ({
  name: 'resources',
  params: { resource: kindSlug(kind) },
  query: { select: namespace ? `${namespace}/${name}` : name },
})

/** The page about an object: for a pod its decision, for anything else its entry in Resources. */
export function placeOf(ref: ObjectRef): Place {
  if (isResource(ref.kind, podKind))
    return { name: 'decision', params: { namespace: ref.namespace ?? '', name: ref.name } }
  return selected(ref)
}

/** The board about an object: a pod group, a quota, a topology; undefined for objects of other kinds. */
export function boardPlace({ kind, namespace = '', name }: ObjectRef): Place | undefined {
  const board = boardOf(kind)
  if (board === 'gangs')
    return {
      name: board,
      query: {
        group: groupText({ system: isResource(kind, nativeGroupKind) ? 'native' : 'coscheduling', namespace, name }),
      },
    }
  if (board === 'quotas') return { name: board, query: { quota: `${namespace}/${name}` } }
  return board && { name: board, query: { node: name } }
}

/** The object's YAML: for a pod beside its decision. */
export function yamlOf(ref: ObjectRef): Place {
  if (isResource(ref.kind, podKind)) return { ...placeOf(ref), query: { yaml: '1' } }
  return selected(ref)
}

/** The table of the pods on a node or of a workload. */
export function podsOf(ref: ObjectRef): Place {
  if (isResource(ref.kind, nodeKind))
    return { name: 'resources', params: { resource: 'pods' }, query: { node: ref.name } }
  return { name: 'resources', params: { resource: 'pods' }, query: { ns: ref.namespace ?? '', owner: ownerText(ref) } }
}

export interface DecisionQuery {
  q?: string
  plugin?: string
  reason?: string
  node?: string
  /** A node that `plugin`, or any, rejected. */
  rejectedOn?: string
  outcome?: string
  namespace?: string
  /** Kind/name, such as Deployment/web. */
  owner?: string
}

export function decisionsWith(query: DecisionQuery): Place {
  return {
    name: 'decisions',
    query: Object.fromEntries(Object.entries(query).filter(([, value]) => value)) as Record<string, string>,
  }
}

/** The decisions that chose a node, or about the pods of a workload. */
export function decisionsOf(ref: ObjectRef): Place {
  if (isResource(ref.kind, nodeKind)) return decisionsWith({ node: ref.name })
  if (isResource(ref.kind, podKind)) return placeOf(ref)
  return decisionsWith({ namespace: ref.namespace ?? '', owner: ownerText(ref) })
}

/** A workload as the URL names it: Deployment/web. */
function ownerText({ kind, name }: ObjectRef): string {
  return `${kind.kind}/${name}`
}
