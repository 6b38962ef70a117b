// The sample cluster in one click.

import { ApiError } from '@/api/http'
import { createObject } from '@/api/kubernetes'
import { resolveKind } from '@/kubernetes/kinds'
import { sampleObjects } from '../model/sample'
import { loadKinds } from '@/live/discovery'

/** Creates what is missing of it and returns how many objects that was. Throws what stopped it. */
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
      // It is there from before: the sample may be asked for again.
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error
    }
  }
  return created
}
