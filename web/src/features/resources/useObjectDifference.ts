// The two sides of the Changes tab: the text, and the version that it started from, a newer
// version or the result of a dry run.

import { computed, type ComputedRef } from 'vue'
import { authorNotes } from '@/features/yaml/authorNotes'
import type { LineNotes } from '@/features/yaml/diffNotes'
import { parseText, toYaml } from '@/features/yaml/model/documents'
import { t } from '@/i18n'
import { unversionedYaml } from './model/objectText'
import type { ObjectEditing } from './useObjectEditing'

export interface ObjectDifference {
  before: string
  after: string
  beforeLabel: string
  afterLabel: string
  beforeNotes?: LineNotes
  afterNotes?: LineNotes
}

export function useObjectDifference({
  object,
  newest,
  outdated,
  conflict,
  original,
  text,
  mine,
  tried,
}: Pick<
  ObjectEditing,
  'object' | 'newest' | 'outdated' | 'conflict' | 'original' | 'text' | 'mine' | 'tried'
>): ComputedRef<ObjectDifference> {
  return computed((): ObjectDifference => {
    if ((conflict.value || outdated.value) && newest.value && !tried.value) {
      const before = unversionedYaml(newest.value)
      return {
        before,
        after: mine.value ? unversionedYaml(mine.value) : text.value,
        beforeLabel: t('resources.theirs'),
        afterLabel: t('resources.mine'),
        beforeNotes: authorNotes(newest.value, before),
      }
    }
    const before = {
      before: original.value,
      beforeLabel: t('create.now'),
      beforeNotes: object.value && authorNotes(object.value, original.value, { losing: true }),
    }
    if (!tried.value) return { ...before, after: text.value, afterLabel: t('resources.mine') }
    const after = toYaml(tried.value)
    const written = parseText(text.value).entries[0]?.object
    return { ...before, after, afterLabel: t('create.then'), afterNotes: authorNotes(tried.value, after, { written }) }
  })
}
