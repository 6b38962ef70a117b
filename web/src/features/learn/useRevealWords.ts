// The words for a reveal: what each plugin did, in one sentence and one equation.

import { useI18n } from 'vue-i18n'
import { plainName } from '@/features/decision/model/cycle'
import { scoreTable } from '@/features/decision/model/scores'
import { noteText } from '@/features/decision/rejectionNotes'
import { names } from '@/i18n/names'
import type { Foot, Reveal, Reveals } from './model/prediction'

export function useRevealWords(): {
  said: (told: Reveals, row: Reveal) => { text: string; equation: string }
  verdictOf: (foot: Foot) => string
  rejection: (by: { reason: string; note: Parameters<typeof noteText>[0] }) => string
} {
  const { t } = useI18n()

  /** What the plugin's message leaves out says more than the message. */
  const rejection = ({ reason, note }: { reason: string; note: Parameters<typeof noteText>[0] }) =>
    noteText(note) || reason

  function said(told: Reveals, row: Reveal): { text: string; equation: string } {
    switch (row.kind) {
      case 'preFilter':
        return { text: t('learn.reveal.preFilter', { plugin: plainName(row.plugin) }), equation: row.reason }
      case 'filter': {
        const cell = told.cell(told.rows.indexOf(row), row.rejected[0] ?? '')
        return {
          text: t('learn.reveal.filter', { plugin: plainName(row.plugin), nodes: names(row.rejected) }),
          equation: cell.kind === 'rejected' ? cell.reason : '',
        }
      }
      case 'score': {
        const cell = told.cell(told.rows.indexOf(row), row.best[0] ?? '')
        const all = scoreTable(told.cycle)?.nodes.length === row.best.length
        const text =
          all && row.best.length > 1
            ? t('learn.reveal.scoreSame', { plugin: plainName(row.plugin) })
            : t('learn.reveal.score', { plugin: plainName(row.plugin), nodes: names(row.best) })
        return {
          text,
          equation:
            cell.kind === 'scored' && cell.normalized !== undefined
              ? `${cell.normalized} × ${row.weight} = ${cell.weighted}`
              : '',
        }
      }
      case 'total': {
        const parts = told.rows.flatMap((one, i) => {
          const cell = one.kind === 'score' ? told.cell(i, row.best) : undefined
          return cell?.kind === 'scored' && cell.weighted ? [cell.weighted] : []
        })
        const equation = parts.length ? `${parts.join(' + ')} = ${parts.reduce((a, b) => a + b, 0)}` : ''
        if (!row.next) return { text: t('learn.reveal.only', { node: row.best }), equation }
        if (row.tied.length)
          return { text: t('learn.reveal.tied', { node: row.best, nodes: names(row.tied) }), equation }
        return { text: t('learn.reveal.total', { node: row.best, margin: row.margin, next: row.next }), equation }
      }
      default:
        return { text: t('learn.reveal.none', { pod: told.cycle.pod.name }), equation: '' }
    }
  }
  const verdictOf = ({ verdict }: Foot) =>
    verdict.kind === 'rejected' ? rejection(verdict) : t(`learn.verdict.${verdict.kind}`)
  return { said, verdictOf, rejection }
}
