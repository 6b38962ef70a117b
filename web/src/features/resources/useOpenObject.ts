// The object that is open beside the table, kept in the URL.

import { computed, type ComputedRef, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { KindInfo } from '@/api/types'
import { splitKey } from '@/kubernetes/object'
import { useEscape } from '@/ui/useEscape'

export interface OpenObject {
  /** '' if none is open. */
  key: ComputedRef<string>
  object: ComputedRef<{ namespace: string | undefined; name: string } | undefined>
  /** Opens an object, or closes it if it is already open. */
  toggle(key: string): void
  close(): void
}

/** Escape closes the object unless locked returns true, because an edit would be lost. */
export function useOpenObject(kind: Ref<KindInfo | undefined>, locked: () => boolean): OpenObject {
  const route = useRoute()
  const router = useRouter()
  const key = computed(() => (typeof route.query.select === 'string' ? route.query.select : ''))

  function go(select: string | undefined) {
    void router.push({ params: route.params, query: { ...route.query, select } })
  }
  const close = () => go(undefined)
  useEscape((event) => {
    if (!key.value || (event.target as HTMLElement | null)?.closest?.('.cm-editor, input')) return
    if (!locked()) close()
  })

  return {
    key,
    object: computed(() => {
      if (!key.value || !kind.value) return undefined
      return (kind.value.namespaced ? splitKey(key.value) : undefined) ?? { namespace: undefined, name: key.value }
    }),
    toggle: (wanted) => go(wanted && wanted !== key.value ? wanted : undefined),
    close,
  }
}
