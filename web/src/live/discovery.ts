// The kinds that the API server serves, loaded once and again on request.

import { shallowRef } from 'vue'
import { discover } from '@/api/kubernetes'
import type { KindInfo } from '@/api/types'

export const kinds = shallowRef<readonly KindInfo[]>([])
export const kindsError = shallowRef<unknown>()

let pending: Promise<readonly KindInfo[]> | undefined

/** Resolves with every served kind; `fresh` bypasses the cache. */
export function loadKinds(fresh = false): Promise<readonly KindInfo[]> {
  if (!fresh && kinds.value.length) return Promise.resolve(kinds.value)
  pending ??= discover()
    .then((found) => {
      kinds.value = found
      kindsError.value = undefined
      return found
    })
    .catch((error: unknown) => {
      kindsError.value = error
      throw error
    })
    .finally(() => {
      pending = undefined
    })
  return pending
}
