import { beforeEach, expect, it, vi } from 'vitest'
import { shallowRef } from 'vue'
import type { Cycle } from '@/api/types'
import * as configuration from '@/live/configurationInForce'
import { withSetup } from '@/ui/testing'
import { sampleCycle } from './model/testing'
import { useDecisionTables } from './useDecisionTables'

vi.mock('@/live/configurationInForce')
const read = (effective: unknown) => ({ value: shallowRef(effective), error: shallowRef(), reload: vi.fn(), stop: vi.fn() }) as unknown as ReturnType<typeof configuration.readEffective>

beforeEach(() => {
  vi.mocked(configuration.readEffective).mockImplementation(() => read(undefined))
})

const tablesOf = async (cycle: Cycle) => (await withSetup(() => useDecisionTables(shallowRef(cycle)))).value
const unscored = (more: Partial<Cycle> = {}) => {
  const cycle = sampleCycle(more)
  delete cycle.score
  return cycle
}

it('the tables follow the cycle', async () => {
  const { matrix, table, totals, scoreAbsent } = await tablesOf(sampleCycle())
  expect([matrix.value?.nodes.length, table.value?.nodes.length, totals.value.get('node-b2'), scoreAbsent.value]).toEqual([12, 6, 823, ''])
})

it('each absent table has its own reason', async () => {
  const nodes = (feasible: number, total = 12) => ({ total, evaluated: total, feasible })
  const reasons = []
  for (const cycle of [unscored({ nodes: nodes(1) }), unscored({ nodes: nodes(0) }), unscored()]) reasons.push((await tablesOf(cycle)).scoreAbsent.value)
  for (const cycle of [unscored({ nodes: nodes(0, 0) }), unscored({ outcome: 'error' }), unscored()]) reasons.push((await tablesOf(cycle)).filterAbsent.value)
  expect(new Set(reasons).size).toBe(6)
  expect(reasons).not.toContain('')
})

it('the QueueSort plugin is known only while the configuration of the cycle is running', async () => {
  const effective = { revision: 4, profiles: [{ schedulerName: 'default-scheduler', extensionPoints: [{ name: 'queueSort', plugins: [{ name: 'PrioritySort' }] }] }] }
  vi.mocked(configuration.readEffective).mockImplementation(() => read(effective))
  expect((await tablesOf(sampleCycle({ revision: 4 }))).queueSort.value).toBe('PrioritySort')
  expect((await tablesOf(sampleCycle({ revision: 3 }))).queueSort.value).toBeUndefined()
})
