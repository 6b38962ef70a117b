// Query parameters as writable refs: a view is a link.

import { computed, type WritableComputedRef } from 'vue'
import { useRoute, useRouter, type Router } from 'vue-router'

type Values = Readonly<Record<string, string | undefined>>

/** What was set, but is not in the URL yet: a navigation takes a while, and another one cancels it. */
const unfinished = new WeakMap<Router, Values>()

/** The query parameter `name`; '' when it is absent. Setting it replaces the current history entry. */
export function useQuery<T extends string = string>(
  name: string,
  otherwise: T = '' as T,
  allowed?: readonly T[]
): WritableComputedRef<T> {
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
      const values: Values = {
        ...unfinished.get(router),
        [name]: value === otherwise || value === '' ? undefined : value,
      }
      unfinished.set(router, values)
      void router.replace({ query: { ...route.query, ...values } }).finally(() => {
        if (unfinished.get(router) === values) unfinished.delete(router)
      })
    },
  })
}
