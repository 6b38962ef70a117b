import { mount } from '@vue/test-utils'
import { afterEach, beforeAll, expect, it } from 'vitest'
import type { RunAutoscaling as Autoscaling, RunResult } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import RunAutoscaling from './RunAutoscaling.vue'

beforeAll(loadDeferredMessages)
afterEach(() => {
  i18n.global.locale.value = 'en'
})

const offer = { instanceType: 'c-4x', zone: 'zone-a', capacityType: 'on-demand', pricePerHour: 0.108 }
const autoscaling: Autoscaling = {
  events: [
    {
      atSeconds: 1,
      kind: 'bought',
      node: 'general-1',
      reason: 'pods',
      offer,
      pods: ['a', 'b', 'c'],
      podCount: 5,
      nodes: 0,
    },
    { atSeconds: 46, kind: 'joined', node: 'general-1', nodes: 1 },
    { atSeconds: 90, kind: 'removing', node: 'general-1', reason: 'empty', savesPerHour: 0.108, nodes: 1 },
    {
      atSeconds: 91,
      kind: 'refused',
      pods: ['default/gpu'],
      podCount: 1,
      reason: 'NodePool general: too small',
      nodes: 1,
    },
  ],
  bought: 1,
  removed: 1,
  evicted: 2,
  lost: 1,
  unhelped: [{ pod: 'default/gpu', reason: 'NodePool general: too small' }],
  prices: { from: 'a test' },
  secondsToNode: { median: 45, p95: 45, max: 45 },
}

function shown(result: Partial<RunResult>): string[] {
  const page = mount(RunAutoscaling, { props: { result: result as RunResult }, global: { plugins: [i18n] } })
  return page.findAll('p, tbody tr, li').map((one) => one.text().replace(/\s+/g, ' '))
}
const result = { autoscaling, metrics: { cost: 1.5, unusedCost: 0.5, mostNodes: 3 } } as RunResult

it('says when and why nodes came and went', () => {
  expect(shown(result)).toEqual([
    'nodes bought 1, removed 1, at most 3 at a time, $1.50 in all, $0.50 of it unused, pods evicted 2, 1 of them for good',
    '0:01.0bought general-1c-4x in zone-a, on-demand, $0.11 an hour, for a, b, c, 2 more0',
    '0:46.0is ready general-11',
    '1:30.0is to go general-1no pod is on it that counts, saves $0.11 an hour1',
    '1:31.0gets no node default/gpuNodePool general: too small1',
    'default/gpu waits NodePool general: too small',
  ])
  i18n.global.locale.value = 'ja'
  expect(shown(result)[1]).toContain('購入')
})

it('shows nothing of a run without an autoscaler', () => {
  expect(shown({ metrics: {} } as RunResult)).toEqual([])
})
