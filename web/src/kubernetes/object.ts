// How an object is named and told from an earlier version of itself.

/** namespace/name, or the name alone for what has no namespace. */
export function objectKey(object: { metadata: { namespace?: string; name: string } }): string {
  const { namespace, name } = object.metadata
  return namespace ? `${namespace}/${name}` : name
}

/** The same version of the same object. Versions are compared for equality only: they are opaque. */
export function sameVersion(a: { metadata: { uid?: string; resourceVersion?: string } }, b: { metadata: { uid?: string; resourceVersion?: string } }): boolean {
  return a.metadata.resourceVersion !== undefined && a.metadata.resourceVersion === b.metadata.resourceVersion && a.metadata.uid === b.metadata.uid
}

/** Splits what objectKey made of a namespaced object. */
export function splitKey(key: string): { namespace: string; name: string } | undefined {
  const at = key.indexOf('/')
  return at > 0 && at < key.length - 1 ? { namespace: key.slice(0, at), name: key.slice(at + 1) } : undefined
}
