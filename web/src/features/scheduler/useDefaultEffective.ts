// Kubernetes' default configuration as it would be in force: what each plugin weighs by default.

import { shallowRef, watch, type ShallowRef } from 'vue'
import { tryConfiguration } from '@/api/configuration'
import type { Effective } from '@/api/types'
import { connection } from '@/live/status'
import { nothingSet } from './model/draft'

export function useDefaultEffective(): { defaults: ShallowRef<Effective | undefined> } {
  const defaults = shallowRef<Effective>()
  watch(
    () => connection.value.kind === 'live',
    async (live) => {
      if (!live || defaults.value) return
      // Without it, the matrix shows what runs, and the document can still be edited.
      defaults.value = await tryConfiguration(nothingSet).then(
        ({ effective }) => effective,
        () => undefined
      )
    },
    { immediate: true }
  )
  return { defaults }
}
