// An object as YAML to edit in a hypothesis: what the scheduler reads and a user may
// suppose, without what only the server writes.

import { isRecord } from '@/api/http'
import type { KubeObject } from '@/api/types'

const userMetadata = ['name', 'namespace', 'labels', 'annotations', 'ownerReferences'] as const
/** A node is defined by what it offers; every other status follows from the object. */
const nodeStatus = ['capacity', 'allocatable'] as const

/** The simulator's own annotations only say what happened. */
const ownAnnotations = /^kube-scheduler-simulator\.sigs\.k8s\.io\//

export function editable(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, status, ...rest } = object
  const shown = pick(metadata as unknown as Record<string, unknown>, userMetadata)
  if (isRecord(shown.annotations)) {
    const annotations = Object.fromEntries(
      Object.entries(shown.annotations).filter(([key]) => !ownAnnotations.test(key))
    )
    if (Object.keys(annotations).length) shown.annotations = annotations
    else delete shown.annotations
  }
  return {
    apiVersion,
    kind,
    metadata: shown as unknown as KubeObject['metadata'],
    ...rest,
    ...(kind === 'Node' && isRecord(status) ? { status: pick(status, nodeStatus) } : {}),
  } as KubeObject
}

/** The object with what was edited; everything that editable leaves out stays. */
export function edited(object: KubeObject, text: KubeObject): KubeObject {
  const metadata: Record<string, unknown> = { ...object.metadata }
  const written = text.metadata as unknown as Record<string, unknown>
  for (const field of ['labels', 'annotations']) {
    const hidden =
      field === 'annotations'
        ? Object.entries(object.metadata.annotations ?? {}).filter(([key]) => ownAnnotations.test(key))
        : []
    const values = { ...Object.fromEntries(hidden), ...(isRecord(written[field]) ? written[field] : {}) }
    if (Object.keys(values).length) metadata[field] = values
    else Reflect.deleteProperty(metadata, field)
  }
  // Every field besides these is the user's.
  const fixed = ['apiVersion', 'kind', 'metadata', 'status']
  const fields = Object.fromEntries(Object.entries(text).filter(([field]) => !fixed.includes(field)))
  const kept = Object.fromEntries(Object.entries(object).filter(([field]) => fixed.includes(field)))
  const status =
    object.kind === 'Node' && isRecord(text.status)
      ? { status: { ...(isRecord(object.status) ? object.status : {}), ...pick(text.status, nodeStatus) } }
      : {}
  return { ...kept, ...fields, ...status, metadata: metadata as unknown as KubeObject['metadata'] }
}

function pick(from: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.flatMap((field) => (from[field] === undefined ? [] : [[field, from[field]]])))
}
