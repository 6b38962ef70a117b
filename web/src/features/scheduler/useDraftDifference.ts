// The configuration that the draft is compared with, and the number of lines that differ.

import { computed, type ComputedRef, type Ref } from 'vue'
import type { Revision } from '@/api/types'
import type { Running } from './model/draft'
import { lineDifference, type LineDifference } from '@/features/yaml/lineDifference'
import { presets } from './model/presets'
import { dirty, draft, running } from './store/configuration'

export interface DraftDifference {
  compared: ComputedRef<Running | undefined>
  difference: ComputedRef<LineDifference | undefined>
}

/**
 * Compares the draft with the running configuration. If that is the default, which the server
 * returns written out in full, and the draft started from another document, it compares with
 * the two-line default preset instead.
 */
export function useDraftDifference(revisions: Ref<readonly Revision[] | undefined>): DraftDifference {
  const compared = computed(() => {
    const now = running.value
    const isDefault = revisions.value?.find((r) => r.number === now?.revision)?.source === 'default'
    return now && isDefault && draft.value?.origin ? { ...now, text: presets.default } : now
  })
  return { compared, difference: computed(() => (dirty.value && compared.value && draft.value ? lineDifference(compared.value.text, draft.value.text) : undefined)) }
}
