// An object as a text that a person edits: whose text it is, and what is sent for it.

import type { KindInfo, KubeObject } from '@/api/types'
import { toYaml, type Entry } from '@/features/yaml/model/documents'
import { apiVersionOf } from '@/kubernetes/kinds'
import { same } from '@/kubernetes/merge'

/** What an object is called. */
export interface ObjectRef {
  kind: KindInfo
  /** undefined for a kind that is not namespaced. */
  namespace: string | undefined
  name: string
}

/** Two refs with the same key name the same object, whichever value of KindInfo they hold. */
export function keyOf({ kind, namespace, name }: ObjectRef): string {
  return [apiVersionOf(kind), kind.resource, namespace, name].join(' ')
}

/** Whether the entry names the object; an entry without a namespace is in the object's own. */
export function isTextOf(entry: Entry, { kind, namespace, name }: ObjectRef): boolean {
  return entry.kind === kind.kind && entry.apiVersion === apiVersionOf(kind) && entry.object.metadata.name === name && (entry.namespace ?? namespace) === namespace
}

/** What is sent for an entry. A resourceVersion given here takes the place of the one in the text. */
export function bodyOf(entry: Entry, namespace: string | undefined, resourceVersion?: string): KubeObject {
  const body: KubeObject = { ...entry.object, metadata: { ...entry.object.metadata } }
  if (namespace) body.metadata.namespace = namespace
  if (resourceVersion) body.metadata.resourceVersion = resourceVersion
  return body
}

/** The object with its type, which the API server may leave out of an answer. */
export function withType(kind: KindInfo, object: KubeObject): KubeObject {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object }
}

/** Whether the status has to be written by a request of its own, because a replace of the object ignores it. */
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
