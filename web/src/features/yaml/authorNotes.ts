// Notes for a difference that name the author of each line of an object.

import { fieldManager } from '@/api/kubernetes'
import type { KubeObject } from '@/api/types'
import { t } from '@/i18n'
import { authorsByLine, type Author } from './model/managers'
import type { LineNotes } from './diffNotes'

export interface NotesOf {
  /** The object as the user wrote it; anything else under our field manager is a default. */
  written?: KubeObject
  /** Lines that a takeover would remove or change: warns about those that only other managers own. */
  losing?: boolean
}

const say = (author: Author) => {
  if (author.kind !== 'others') return t(`editor.author.${author.kind}`)
  return [...author.names, ...(author.you ? [t('editor.author.you')] : [])].join(t('common.separator'))
}

export const authorNotes = (object: KubeObject, text: string, { written, losing = false }: NotesOf = {}): LineNotes =>
  new Map(
    [...authorsByLine(object, text, { ours: fieldManager, written })].map(([line, author]) => [
      line,
      { text: say(author), warn: losing && author.kind === 'others' && !author.you },
    ])
  )
