// The part of the ledger that is about one workload, read again whenever the ledger grows.

import { shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import type { AdmissionPage } from '@/api/kueue'
import type { AdmissionEntry, Kueue, WorkloadRef } from '@/api/types'

export function useLedgerOf(
  chosen: Readonly<Ref<string>>,
  kueue: Readonly<ShallowRef<Kueue | undefined>>,
  read: (workload: WorkloadRef, signal: AbortSignal) => Promise<AdmissionPage>
): { entries: ShallowRef<readonly AdmissionEntry[]>; error: ShallowRef<unknown> } {
  const entries = shallowRef<readonly AdmissionEntry[]>([])
  const error = shallowRef<unknown>()
  watch(
    [chosen, () => kueue.value?.latest[0]?.id],
    async ([key], before, onCleanup) => {
      if (key !== before[0]) entries.value = []
      const [namespace, name] = key.split('/')
      if (!namespace || !name) return
      const cancel = new AbortController()
      onCleanup(() => cancel.abort())
      try {
        entries.value = (await read({ namespace, name }, cancel.signal)).items
        error.value = undefined
      } catch (failure) {
        if (!cancel.signal.aborted) error.value = failure
      }
    },
    { immediate: true }
  )
  return { entries, error }
}
