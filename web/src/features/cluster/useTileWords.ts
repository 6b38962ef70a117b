// Describes a tile in words, for screen readers.

import { useI18n } from 'vue-i18n'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import { share, type NodeView } from '@/kubernetes/cluster'

export function useTileWords(): (view: NodeView, verdict: NodeVerdict | undefined) => string {
  const { t } = useI18n()
  function verdictWords(verdict: NodeVerdict): string {
    switch (verdict.kind) {
      case 'scored':
        return [
          ...(verdict.chosen ? [t('deci.chosen')] : []),
          `${t('decision.rank')} ${verdict.rank}`,
          `${t('decision.total')} ${verdict.total}`,
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
  return (view, verdict) =>
    [
      view.name,
      verdict
        ? verdictWords(verdict)
        : t('cluster.tileLoad', { cpu: percent(view.cpu), memory: percent(view.memory), pods: view.pods.requested }),
    ].join(t('common.separator'))
}

const percent = (meter: NodeView['cpu']) => Math.round(share(meter) * 100)
