// Creates the sample cluster.

import { ApiError } from '@/api/http'
import { createObject } from '@/api/kubernetes'
import { resolveKind } from '@/kubernetes/kinds'
import { sampleObjects } from '../model/sample'
import { loadKinds } from '@/live/discovery'

/** Creates the missing objects and returns their number. Throws the first error. */
export async function createSample(): Promise<number> {
  const kinds = await loadKinds()
  let created = 0
  for (const object of sampleObjects()) {
    const kind = resolveKind(kinds, object.apiVersion ?? '', object.kind ?? '')
    if (!kind) continue
    try {
      await createObject(kind, object.metadata.namespace, object, false)
      created++
    } catch (error) {
      // The object already exists: the user may create the sample again.
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error
    }
  }
  return created
}
