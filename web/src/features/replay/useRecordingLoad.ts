// Loads a recording that the user chose. It replaces the cluster, so a cluster that is not
// empty needs confirmation.

import { computed, ref, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { cluster } from '@/live/cluster'
import { external } from '@/live/operation'
import { transfers } from '@/live/servedTransfers'
import { notifyFailure } from '@/ui/notices'
import { loadReplay } from './store/replay'

export interface RecordingLoad {
  /** Why recordings cannot be loaded here; '' if they can. */
  impossible: ComputedRef<string>
  /** The recording that waits for confirmation to replace the cluster. */
  asking: Ref<File | undefined>
  /** Handles a file input, and resets it so that the same file can be chosen again. */
  onPick(event: Event): void
  load(file: File): Promise<void>
}

export function useRecordingLoad(): RecordingLoad {
  const { t } = useI18n()
  const asking = ref<File>()
  async function load(file: File) {
    asking.value = undefined
    await loadReplay(file).catch(notifyFailure)
  }
  return {
    impossible: computed(() =>
      transfers.value?.has('replay') === false ? t('replay.notServed') : external.value ? t('replay.notOurs') : ''
    ),
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
