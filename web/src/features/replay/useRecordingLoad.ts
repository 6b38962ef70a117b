// Loading a recording that a person has chosen. It replaces the cluster, so what the cluster
// holds is given up only with consent.

import { computed, ref, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { cluster } from '@/live/cluster'
import { external } from '@/live/operation'
import { transfers } from '@/live/servedTransfers'
import { notify } from '@/ui/notices'
import { loadReplay } from './store/replay'

export interface RecordingLoad {
  /** Why none can be loaded here; '' when one can. */
  impossible: ComputedRef<string>
  /** The recording that waits for consent to replace what the cluster holds. */
  asking: Ref<File | undefined>
  /** For a file input; it can choose the same file again afterwards. */
  onPick(event: Event): void
  load(file: File): Promise<void>
}

export function useRecordingLoad(): RecordingLoad {
  const { t } = useI18n()
  const asking = ref<File>()
  async function load(file: File) {
    asking.value = undefined
    try {
      await loadReplay(file)
    } catch (error) {
      notify('failed', error instanceof Error ? error.message : String(error))
    }
  }
  return {
    impossible: computed(() => (transfers.value?.has('replay') === false ? t('replay.notServed') : external.value ? t('replay.notOurs') : '')),
    asking,
    onPick(event) {
      const input = event.target as HTMLInputElement
      const file = input.files?.[0]
      input.value = ''
      if (!file) return
      if (cluster.value.nodes.length || cluster.value.podCount) asking.value = file
      else void load(file)
    },
    load,
  }
}
