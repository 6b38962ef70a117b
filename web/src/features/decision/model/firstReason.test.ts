import { describe, expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { feedOutcome, firstReason } from './firstReason'

const at = (second: number) => new Date(second * 1000).toISOString()
function summary(name: string, second: number, more: Partial<Summary> = {}): Summary {
  return {
    pod: { namespace: 'shop', name, uid: name },
    attempt: 1,
    profile: 'default-scheduler',
    startTime: at(second),
    durationSeconds: 0.01,
    outcome: 'scheduled',
    nodes: { total: 3, evaluated: 3, feasible: 1 },
    ...more,
  }
}

describe('the first reason', () => {
  const items = [
    summary('new', 3, { revision: 5 }),
    summary('late', 2, {
      revision: 5,
      outcome: 'unschedulable',
      message: '0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. preemption: none.',
    }),
    summary('room', 1, { revision: 4, outcome: 'unschedulable', nominatedNode: 'n1' }),
  ]
  it('distinguishes pods for which preemption made room', () => {
    expect(items.map(feedOutcome)).toEqual(['scheduled', 'unschedulable', 'preempted'])
  })
  it('is the most frequent reason', () => {
    const [, late] = items
    // A record of an earlier version has only the scheduler's message.
    expect(late && firstReason(late)).toEqual({ lead: '', text: 'Insufficient cpu', note: '', nodes: 2, more: 1 })
    const refusal = {
      extensionPoint: 'filter',
      plugin: 'NodeResourcesFit',
      reason: 'Insufficient cpu',
      nodes: 2,
      others: 1,
    }
    expect(late && firstReason({ ...late, refusal })).toEqual({
      lead: 'NodeResourcesFit',
      text: 'Insufficient cpu',
      note: '',
      nodes: 2,
      more: 1,
    })
  })
  it('starts with the extension point where a cycle with a node ended or waits', () => {
    const stuck = summary('stuck', 1, {
      outcome: 'error',
      message: 'binding volumes: timeout',
      refusal: { extensionPoint: 'preBind', plugin: 'VolumeBinding', reason: 'timeout' },
    })
    expect(firstReason(stuck)).toEqual({
      lead: 'PreBind',
      text: 'VolumeBinding',
      note: 'timeout',
      nodes: undefined,
      more: 0,
    })
    const held = (name: string, plugin: string) =>
      summary(name, 1, {
        outcome: 'waiting',
        message: 'one or more plugins asked to wait',
        refusal: { extensionPoint: 'permit', plugin },
      })
    expect(firstReason(held('a', 'Gang'))).toEqual({
      lead: 'Permit',
      text: 'Gang',
      note: '',
      nodes: undefined,
      more: 0,
    })
  })
})
