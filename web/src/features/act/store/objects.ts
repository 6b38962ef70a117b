// Objects as this page knows them: nodes and pods are live, anything else must be asked for.

import { getObject } from '@/api/kubernetes'
import type { KubeObject } from '@/api/types'
import { isResource, nodeKind, podKind } from '@/kubernetes/kinds'
import { objectKey, type ObjectRef } from '@/kubernetes/object'
import { nodes, pods } from '@/live/watched'

/** The node or pod; undefined for other kinds, and for an object that does not exist. */
export function liveObject({ kind, namespace, name }: ObjectRef): KubeObject | undefined {
  if (isResource(kind, nodeKind)) return nodes.value.items.get(name)
  if (isResource(kind, podKind))
    return pods.value.items.get(objectKey({ metadata: { name, ...(namespace ? { namespace } : {}) } }))
  return undefined
}

/** The object as the API server has it. Throws ApiError. */
export function fetchObject({ kind, namespace, name }: ObjectRef): Promise<KubeObject> {
  return getObject(kind, namespace, name)
}

export function refKey({ kind, namespace, name }: ObjectRef): string {
  return `${kind.group}/${kind.kind}/${namespace ?? ''}/${name}`
}
