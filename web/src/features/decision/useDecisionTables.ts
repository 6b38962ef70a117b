// The tables of a cycle, and for an absent table a text that says why.

import { computed, type Ref } from 'vue'
import type { Cycle } from '@/api/types'
import { t } from '@/i18n'
import { filterMatrix } from './model/matrix'
import { decidingValues, preemptionTable } from './model/preemption'
import { scoreTable } from './model/scores'

export type DecisionTables = ReturnType<typeof useDecisionTables>

export function useDecisionTables(cycle: Ref<Cycle | undefined>) {
  const matrix = computed(() => cycle.value && filterMatrix(cycle.value))
  const table = computed(() => cycle.value && scoreTable(cycle.value))
  const preemption = computed(() => cycle.value && preemptionTable(cycle.value))

  return {
    matrix,
    table,
    preemption,
    deciding: computed(() => preemption.value && decidingValues(preemption.value)),
    totals: computed(() => new Map(table.value?.nodes.map((n, row) => [n, table.value?.totals[row] ?? 0]) ?? [])),
    filterAbsent: computed(() => {
      const c = cycle.value
      if (c?.outcome === 'error') return t('decision.filterNotRunError')
      return c?.nodes.total === 0 ? t('decision.filterNoNodes') : t('decision.filterNotRun')
    }),
    scoreAbsent: computed(() => {
      const c = cycle.value
      if (!c || table.value) return ''
      if (c.hint?.used) return t('decision.scoreHint1')
      if (c.nodes.feasible === 1) return t('decision.scoreOne')
      return c.nodes.feasible === 0 ? t('decision.scoreNone') : t('decision.scoreMissing')
    }),
  }
}
