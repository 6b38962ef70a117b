// Describes a tile in words, for screen readers.

import type { NodeVerdict } from '@/features/decision/model/cycle'
import { t } from '@/i18n'
import { formatCount } from '@/i18n/numbers'
import { share, type NodeView } from '@/kubernetes/cluster'

function verdictWords(verdict: NodeVerdict): string {
  switch (verdict.kind) {
    case 'scored':
      return [
        ...(verdict.chosen ? [t('deci.chosen')] : []),
        `${t('decision.rank')} ${verdict.rank}`,
        `${t('decision.total')} ${formatCount(verdict.total)}`,
      ].join(t('common.separator'))
    case 'rejected':
      return `${t('cell.R')}: ${[verdict.plugin, verdict.reason].join(t('common.separator'))}`
    case 'feasible':
      return t('deci.feasible')
    case 'absent':
      return t(verdict.later ? 'deci.cameLater' : 'deci.notInSnapshot')
    default:
      return t('deci.notEvaluated')
  }
}

export const tileWords = (view: NodeView, verdict: NodeVerdict | undefined): string =>
  [
    view.name,
    verdict
      ? verdictWords(verdict)
      : t('cluster.tileLoad', { cpu: percent(view.cpu), memory: percent(view.memory), pods: view.pods.requested }),
  ].join(t('common.separator'))

const percent = (meter: NodeView['cpu']) => Math.round(share(meter) * 100)
