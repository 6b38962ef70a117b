import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { computed, shallowRef } from 'vue'
import type { Replay, ReplayDecision } from '@/api/replay'
import { loadDeferredMessages } from '@/i18n/deferred'
import { withSetup, type Running } from '@/ui/testing'
import { decisionKey } from './model/replayDecisions'
import * as store from './store/replay'
import * as decisions from './store/replayDecisions'
import { useComparisonTable, type ComparisonTable } from './useComparisonTable'

vi.mock('./store/replay', async () => {
  const { shallowRef } = await import('vue')
  return { replay: shallowRef() }
})
vi.mock('./store/replayDecisions', () => ({ useReplayDecisions: vi.fn() }))

const decision = (name: string, more: Partial<ReplayDecision> = {}): ReplayDecision =>
  ({
    pod: { namespace: 'default', name, uid: `uid-${name}` },
    time: `2026-01-01T00:00:0${name.length}Z`,
    outcome: 'different',
    recordedNode: 'n1',
    simulatedNode: 'n2',
    recordedNodeEvaluated: true,
    reason: { kind: 'nodeNotScored', selected: 'n2', node: 'n1' },
    why: 'in English',
    ...more,
  }) as ReplayDecision

beforeAll(loadDeferredMessages)

describe('the comparison', () => {
  const items = shallowRef<readonly ReplayDecision[]>([])
  let wanted: { value: string }
  let page: Running<ComparisonTable>
  const open = async (at = '/replay') => {
    page = await withSetup(useComparisonTable, { at })
  }
  beforeEach(() => {
    items.value = [decision('ccc'), decision('a', { simulatedNode: 'n9' }), decision('bb')]
    vi.mocked(decisions.useReplayDecisions).mockImplementation((outcome) => {
      wanted = outcome
      return {
        items: computed(() => items.value),
        next: computed(() => ''),
        nodesMissing: computed(() => 0),
        loading: shallowRef(false),
        error: shallowRef(),
        more: vi.fn(),
        renew: vi.fn(),
      }
    })
  })
  afterEach(() => page.unmount())

  it('fetches one outcome or all, and shows the outcome’s column only for all', async () => {
    await open()
    expect([wanted.value, page.value.columns.value.map((c) => c.id)]).toEqual([
      'different',
      ['time', 'pod', 'recorded', 'simulated', 'why'],
    ])
    page.value.shown.value = 'all'
    await flushPromises()
    expect([wanted.value, page.value.columns.value.map((c) => c.id).includes('outcome')]).toEqual(['', true])
  })

  it('filters and sorts according to the URL', async () => {
    await open('/replay?q=n9&sort=-pod')
    expect(page.value.compared.rows.value.map((d) => d.pod.name)).toEqual(['a'])
    page.value.compared.text.value = ''
    await flushPromises()
    expect(page.value.compared.rows.value.map((d) => d.pod.name)).toEqual(['ccc', 'bb', 'a'])
  })

  it('opens one decision, and closes it when it is chosen again', async () => {
    await open()
    const one = decision('bb', { recordedNodeEvaluated: false })
    items.value = [one]
    page.value.compared.toggle(one)
    await flushPromises()
    expect([page.value.compared.select.value, page.value.compared.opened.value, page.value.compared.why(one)]).toEqual([
      decisionKey(one),
      one,
      'n2 was chosen; n1 was feasible and not scored.',
    ])
    page.value.compared.toggle(one)
    await flushPromises()
    expect([page.value.compared.select.value, page.value.compared.opened.value]).toEqual(['', undefined])
  })

  it('counts the compared decisions, and none without a replay', async () => {
    await open()
    expect([page.value.counts.value.compared, page.value.percent.value]).toEqual([0, '0%'])
    store.replay.value = { decisions: { compared: 3, matching: 2, different: 1, pending: 0, tied: 0 } } as Replay
    expect(page.value.percent.value).toBe('66.7%')
    store.replay.value = undefined
  })
})
