// Kubernetes' default configuration, fetched when it is first shown.

import { shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { getConfiguration } from '@/api/configuration'
import { connection } from '@/live/status'

export function useDefaultDocument(shown: Ref<boolean>): {
  document: ShallowRef<string | undefined>
  error: ShallowRef<unknown>
} {
  const document = shallowRef<string>()
  const error = shallowRef<unknown>()
  watch(
    [shown, () => connection.value.kind === 'live'],
    async ([isShown]) => {
      if (!isShown || document.value) return
      error.value = undefined
      try {
        document.value = await getConfiguration('default')
      } catch (reason) {
        error.value = reason
      }
    },
    { immediate: true }
  )
  return { document, error }
}
