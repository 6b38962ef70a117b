// An object as text that the user edits: which object the text describes, and the request body for it.

import type { KindInfo, KubeObject } from '@/api/types'
import { toYaml, type Entry } from '@/features/yaml/model/documents'
import { apiVersionOf } from '@/kubernetes/kinds'
import { same } from '@/kubernetes/merge'
import type { ObjectRef } from '@/kubernetes/object'

/** Refs with equal keys identify the same object, even if their KindInfo values differ. */
export function keyOf({ kind, namespace, name }: ObjectRef): string {
  return [apiVersionOf(kind), kind.resource, namespace, name].join(' ')
}

/** Whether the entry describes the object. An entry without a namespace belongs to the object's namespace. */
export function isTextOf(entry: Entry, { kind, namespace, name }: ObjectRef): boolean {
  return (
    entry.kind === kind.kind &&
    entry.apiVersion === apiVersionOf(kind) &&
    entry.object.metadata.name === name &&
    (entry.namespace ?? namespace) === namespace
  )
}

/** The request body for an entry. A given resourceVersion replaces the one in the text. */
export function bodyOf(entry: Entry, namespace: string | undefined, resourceVersion?: string): KubeObject {
  const body: KubeObject = { ...entry.object, metadata: { ...entry.object.metadata } }
  if (namespace) body.metadata.namespace = namespace
  if (resourceVersion) body.metadata.resourceVersion = resourceVersion
  return body
}

/** The object with its apiVersion and kind, which responses may lack. */
export function withType(kind: KindInfo, object: KubeObject): KubeObject {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object }
}

/** Whether the status needs its own request, because replacing the object ignores it. */
export function needsStatusWrite(kind: KindInfo, body: KubeObject, before: KubeObject | undefined): boolean {
  return !!kind.subresources?.includes('status') && body.status !== undefined && !same(body.status, before?.status)
}

/** The object as YAML for a comparison, without the counters that every write changes. */
export function unversionedYaml(object: KubeObject): string {
  const metadata = { ...object.metadata } as Record<string, unknown>
  delete metadata.resourceVersion
  delete metadata.generation
  return toYaml({ ...object, metadata: metadata as unknown as KubeObject['metadata'] })
}
