// The difference that one object of a batch makes: the server's result beside the existing object
// or the user's text.

import { computed, type ComputedRef, type Ref } from 'vue'
import { authorNotes } from '@/features/yaml/authorNotes'
import type { LineNotes } from '@/features/yaml/diffNotes'
import { toYaml } from '@/features/yaml/model/documents'
import { t } from '@/i18n'
import type { Item } from './model/batch'
import { withoutServerMetadata } from '@/kubernetes/object'

export interface ItemDifference {
  before: string
  after: string
  beforeLabel: string
  afterLabel: string
  beforeNotes: LineNotes
  afterNotes: LineNotes
}

/** undefined when there is no item, or nothing to compare. */
export function useItemDifference(item: Ref<Item | undefined>): ComputedRef<ItemDifference | undefined> {
  return computed(() => {
    if (!item.value) return undefined
    const { state, entry } = item.value
    const head = { apiVersion: entry.apiVersion, kind: entry.kind }
    const written = entry.object
    if (state.kind === 'checked') {
      const [before, after] = [toYaml(written), toYaml(withoutServerMetadata({ ...state.after, ...head }))]
      return {
        before,
        after,
        beforeLabel: t('create.written'),
        afterLabel: t('create.kept'),
        beforeNotes: new Map(),
        afterNotes: authorNotes(state.after, after, { written }),
      }
    }
    if (!(state.kind === 'differs' || state.kind === 'failed') || !state.before || !state.after) return undefined
    const [old, next] = [
      { ...state.before, ...head },
      { ...state.after, ...head },
    ]
    const [before, after] = [toYaml(old), toYaml(next)]
    return {
      before,
      after,
      beforeLabel: t('create.now'),
      afterLabel: t('create.then'),
      beforeNotes: authorNotes(old, before, { losing: true }),
      afterNotes: authorNotes(next, after, { written }),
    }
  })
}
