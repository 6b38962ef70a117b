// The tables of a cycle, and for an absent table a text that says why.

import { computed, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import type { Cycle } from '@/api/types'
import { filterMatrix, type FilterMatrix } from './model/matrix'
import { decidingValues, preemptionTable, type PreemptionTable } from './model/preemption'
import { scoreTable, type ScoreTable } from './model/scores'

export interface DecisionTables {
  matrix: ComputedRef<FilterMatrix | undefined>
  table: ComputedRef<ScoreTable | undefined>
  preemption: ComputedRef<PreemptionTable | undefined>
  deciding: ComputedRef<ReturnType<typeof decidingValues>>
  /** Total scores by node. */
  totals: ComputedRef<ReadonlyMap<string, number>>
  filterAbsent: ComputedRef<string>
  scoreAbsent: ComputedRef<string>
}

export function useDecisionTables(cycle: Ref<Cycle | undefined>): DecisionTables {
  const { t } = useI18n()
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
