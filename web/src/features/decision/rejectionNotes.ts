// Notes with what a rejection's message leaves out: the taint, or the missing amount.

import { t } from '@/i18n'
import type { Note } from './model/pluginComparison'

function podTermText({ rule, domain, pod }: Extract<Note, { kind: 'podTerm' }>): string {
  if (rule === 'affinity') return t('decision.podTermNone', { domain })
  if (!pod) return t('decision.podTermSome', { domain })
  return rule === 'antiAffinity'
    ? t('decision.podTermIn', { pod, domain })
    : t('decision.podTermRepels', { pod, domain })
}
function spreadText({ domain, matching, minimum, fewest, few }: Extract<Note, { kind: 'spread' }>): string {
  if (few) return t('decision.spreadFew', { domain, matching, ...few })
  return fewest
    ? t('decision.spreadFewest', { domain, matching, fewest, minimum })
    : t('decision.spreadCounts', { domain, matching, minimum })
}

export function noteText(note: Note | undefined): string {
  switch (note?.kind) {
    case 'short':
      return t('decision.short', { resource: note.resource, amount: note.amount })
    case 'podsFull':
      return t('decision.podsFull')
    case 'taint':
      return note.text
    case 'term':
      return note.actual === null
        ? t('decision.termNone', { key: note.key })
        : t('decision.termActual', { key: note.key, actual: note.actual })
    case 'ports':
      return t('decision.portsTaken', { ports: note.text })
    case 'podTerm':
      return podTermText(note)
    case 'spread':
      return spreadText(note)
    case 'claim':
      return note.largest === undefined
        ? t('decision.claimNoVolume', { claim: note.claim })
        : t('decision.claimTooLarge', { claim: note.claim, largest: note.largest })
    case 'devices':
      return note.onNode
        ? t('decision.devicesInUse', { onNode: note.onNode, inUse: note.inUse })
        : t('decision.noDevices')
    default:
      return ''
  }
}
