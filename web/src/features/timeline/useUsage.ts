// How the room of the cluster was used over the axis of the time line.

import { useDocumentVisibility, useIntervalFn, useLocalStorage } from '@vueuse/core'
import { computed, watch, type ComputedRef, type Ref } from 'vue'
import { getUsage } from '@/api/timeline'
import { useAnswer } from '@/live/answer'
import { usageRows, type UsageRow } from './model/usage'
import type { Recording } from './useRecording'

/** The recording grows, so the samples are asked for again this often while the page is visible (ms). */
const pace = 5000
const samples = 120

/** Whether the rows are shown is remembered; at first where there is room. A zoomed axis has samples of its part. */
export function useUsage({ recording, axis, zoom }: Recording): {
  shown: Ref<boolean>
  rows: ComputedRef<readonly UsageRow[]>
} {
  const shown = useLocalStorage('usage over time', window.innerWidth > 720)
  const { value, loading, ask } = useAnswer((signal) =>
    getUsage(
      {
        buckets: samples,
        ...(Number(zoom.value)
          ? { from: new Date(axis.value.from).toISOString(), to: new Date(axis.value.to).toISOString() }
          : {}),
      },
      signal
    )
  )
  const started = computed(() => !!recording.value?.start)
  const visible = useDocumentVisibility()
  const again = () => void (shown.value && started.value && visible.value === 'visible' && ask())
  // The first answer may take longer than that.
  useIntervalFn(() => loading.value || again(), pace)
  watch([shown, started, zoom, visible], again, { immediate: true })
  return { shown, rows: computed(() => (shown.value && value.value ? usageRows(value.value) : [])) }
}
