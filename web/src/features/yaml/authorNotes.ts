// Notes for a difference that name the author of each line of an object.

import { useI18n } from 'vue-i18n'
import { fieldManager } from '@/api/kubernetes'
import type { KubeObject } from '@/api/types'
import { authorsByLine, type Author } from './model/managers'
import type { LineNotes } from './diffNotes'

export interface NotesOf {
  /** The object as the user wrote it; anything else under our field manager is a default. */
  written?: KubeObject | undefined
  /** Lines that a takeover would remove or change: warns about those that only other managers own. */
  losing?: boolean
}

export function useAuthorNotes(): (object: KubeObject, text: string, of?: NotesOf) => LineNotes {
  const { t } = useI18n()
  const say = (author: Author) => {
    if (author.kind !== 'others') return t(`editor.author.${author.kind}`)
    return [...author.names, ...(author.you ? [t('editor.author.you')] : [])].join(t('common.separator'))
  }
  return (object, text, { written, losing = false } = {}) =>
    new Map(
      [...authorsByLine(object, text, { ours: fieldManager, written })].map(([line, author]) => [
        line,
        { text: say(author), warn: losing && author.kind === 'others' && !author.you },
      ])
    )
}
