// The object that is open beside the table, kept in the URL.

import { computed, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { KindInfo } from '@/api/types'
import { splitKey } from '@/kubernetes/object'
import { useEscape } from '@/ui/useEscape'

/** Escape closes the object unless locked returns true, because an edit would be lost. */
export function useOpenObject(kind: Ref<KindInfo | undefined>, locked: () => boolean) {
  const route = useRoute()
  const router = useRouter()
  /** '' if none is open. */
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
    /** Opens an object, or closes it if it is already open. */
    toggle: (wanted: string) => go(wanted && wanted !== key.value ? wanted : undefined),
    close,
  }
}
