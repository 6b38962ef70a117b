import { expect, it } from 'vitest'
import { shallowRef } from 'vue'
import type { Cycle } from '@/api/types'
import { withSetup } from '@/ui/testing'
import { sampleCycle } from './model/testing'
import { useDecisionTables } from './useDecisionTables'

const tablesOf = async (cycle: Cycle) => (await withSetup(() => useDecisionTables(shallowRef(cycle)))).value
const unscored = (more: Partial<Cycle> = {}) => {
  const cycle = sampleCycle(more)
  delete cycle.score
  return cycle
}

it('the tables follow the cycle', async () => {
  const { matrix, table, totals, scoreAbsent } = await tablesOf(sampleCycle())
  expect([
    matrix.value?.nodes.length,
    table.value?.nodes.length,
    totals.value.get('node-b2'),
    scoreAbsent.value,
  ]).toEqual([12, 6, 823, ''])
})

it('each absent table has its own reason', async () => {
  const nodes = (feasible: number, total = 12) => ({ total, evaluated: total, feasible })
  const reasons = []
  for (const cycle of [unscored({ nodes: nodes(1) }), unscored({ nodes: nodes(0) }), unscored()])
    reasons.push((await tablesOf(cycle)).scoreAbsent.value)
  for (const cycle of [unscored({ nodes: nodes(0, 0) }), unscored({ outcome: 'error' }), unscored()])
    reasons.push((await tablesOf(cycle)).filterAbsent.value)
  expect(new Set(reasons).size).toBe(6)
  expect(reasons).not.toContain('')
})
