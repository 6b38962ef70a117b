// Query parameters as writable refs: a view is a link.

import { computed, type WritableComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'

/** The query parameter `name`; '' when it is absent. Setting it replaces the current history entry. */
export function useQuery<T extends string = string>(name: string, otherwise: T = '' as T, allowed?: readonly T[]): WritableComputedRef<T> {
  const route = useRoute()
  const router = useRouter()
  return computed({
    get: () => {
      const value = route.query[name]
      if (typeof value !== 'string' || value === '') return otherwise
      if (allowed && !allowed.includes(value as T)) return otherwise
      return value as T
    },
    set: (value) => {
      void router.replace({ query: { ...route.query, [name]: value === otherwise || value === '' ? undefined : value } })
    },
  })
}
