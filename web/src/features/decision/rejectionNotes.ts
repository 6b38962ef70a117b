// Notes with what a rejection's message leaves out: the taint, or the missing amount.

import { useI18n } from 'vue-i18n'
import type { Note } from './model/pluginComparison'

export function useNotes(): (note: Note | undefined) => string {
  const { t } = useI18n()
  return (note) => {
    switch (note?.kind) {
      case 'short':
        return t('decision.short', { resource: note.resource, amount: note.amount })
      case 'taint':
        return note.text
      case 'term':
        return note.actual === null ? t('decision.termNone', { key: note.key }) : t('decision.termActual', { key: note.key, actual: note.actual })
      case 'ports':
        return t('decision.portsTaken', { ports: note.text })
      case 'devices':
        return note.onNode ? t('decision.devicesInUse', { onNode: note.onNode, inUse: note.inUse }) : t('decision.noDevices')
      default:
        return ''
    }
  }
}
