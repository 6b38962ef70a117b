// Who wrote each line of an object, in the reader's words, for a difference.

import { useI18n } from 'vue-i18n'
import { fieldManager } from '@/api/kubernetes'
import type { KubeObject } from '@/api/types'
import { authorsByLine, type Author } from './model/managers'
import type { LineNotes } from './diffNotes'

export interface NotesOf {
  /** What was written here; what else the server keeps under our name is a default. */
  written?: KubeObject | undefined
  /** These lines would go or change: what only others manage would be taken from them. */
  losing?: boolean
}

export function useAuthorNotes(): (object: KubeObject, text: string, of?: NotesOf) => LineNotes {
  const { t } = useI18n()
  const say = (author: Author) => {
    if (author.kind !== 'others') return t(`editor.author.${author.kind}`)
    return [...author.names, ...(author.you ? [t('editor.author.you')] : [])].join(', ')
  }
  return (object, text, { written, losing = false } = {}) =>
    new Map([...authorsByLine(object, text, { ours: fieldManager, written })].map(([line, author]) => [line, { text: say(author), warn: losing && author.kind === 'others' && !author.you }]))
}
