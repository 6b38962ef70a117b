// References to objects, their keys, and how to compare an object with an earlier version of itself.

import type { KindInfo } from '@/api/types'

export interface ObjectRef {
  kind: KindInfo
  /** undefined for cluster-scoped kinds. */
  namespace: string | undefined
  name: string
}

/** namespace/name, or only the name for what has no namespace. */
export const keyOf = ({ namespace, name }: { namespace?: string | undefined; name: string }): string =>
  namespace ? `${namespace}/${name}` : name

export const objectKey = (object: { metadata: { namespace?: string; name: string } }): string => keyOf(object.metadata)

/**
 * Whether both are the same version of the same object. Versions are opaque and compared only for
 * equality.
 */
export function sameVersion(
  a: { metadata: { uid?: string; resourceVersion?: string } },
  b: { metadata: { uid?: string; resourceVersion?: string } }
): boolean {
  return (
    a.metadata.resourceVersion !== undefined &&
    a.metadata.resourceVersion === b.metadata.resourceVersion &&
    a.metadata.uid === b.metadata.uid
  )
}

export const serverMetadata: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'managedFields',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
])

/** The object without them, so that it can be created, applied or compared. */
export function withoutServerMetadata<T extends { metadata: object }>(object: T): T {
  const own = Object.entries(object.metadata).filter(([field]) => !serverMetadata.has(field))
  return { ...object, metadata: Object.fromEntries(own) }
}

/** Splits the objectKey of a namespaced object. */
export function splitKey(key: string): { namespace: string; name: string } | undefined {
  const at = key.indexOf('/')
  return at > 0 && at < key.length - 1 ? { namespace: key.slice(0, at), name: key.slice(at + 1) } : undefined
}
