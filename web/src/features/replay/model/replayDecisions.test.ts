import { describe, expect, it } from 'vitest'
import type { ReplayDecision } from '@/api/replay'
import { decisionKey, detailsOf, filterDecisions, formatShare, matchShare, sortDecisions } from './replayDecisions'

const decision = (name: string, change: Partial<ReplayDecision> = {}): ReplayDecision => ({
  pod: { namespace: 'shop', name, uid: name },
  time: '2026-11-20T08:00:00Z',
  outcome: 'different',
  recordedNode: 'a1',
  simulatedNode: 'b1',
  why: 'better total',
  recordedNodeEvaluated: true,
  ...change,
})
const all = [
  decision('web-10'),
  decision('web-2', { time: '2026-11-20T08:00:01Z', why: 'NodeResourcesFit rejected a1' }),
  decision('db', { recordedNode: 'c1' }),
]

it('finds decisions by pod, node and reason', () => {
  expect(filterDecisions(all, 'fit WEB').map((d) => d.pod.name)).toEqual(['web-2'])
  expect(filterDecisions(all, 'c1').map((d) => d.pod.name)).toEqual(['db'])
  expect(filterDecisions(all, '')).toBe(all)
})
it('sorts numbers in names as numbers', () => {
  expect(sortDecisions(all, 'pod').map((d) => d.pod.name)).toEqual(['db', 'web-2', 'web-10'])
  expect(sortDecisions(all, '-time')[0]?.pod.name).toBe('web-2')
})
it('distinguishes decisions about the same pod', () => {
  expect(new Set([decision('a'), decision('a', { time: '2026-11-20T08:05:00Z' })].map(decisionKey)).size).toBe(2)
})
it('has no share before the first comparison', () => {
  expect([matchShare({ compared: 0, matching: 0 }), matchShare({ compared: 4, matching: 3 })]).toEqual([
    undefined,
    0.75,
  ])
})
describe('the details of a decision', () => {
  it('leave out totals that its reason names, as whole numbers', () => {
    expect(
      detailsOf(decision('a', { selectedNodeTotal: 30, recordedNodeTotal: 20, why: 'b1 scores 30, a1 20' }))
    ).toEqual([])
    expect(
      detailsOf(decision('a', { selectedNodeTotal: 3, recordedNodeTotal: 2, why: 'b1 scores 30, a1 20' }))
    ).toEqual([{ kind: 'totals', selected: 3, simulated: 'b1', recorded: 2, node: 'a1' }])
  })
  it('name the plugin that rejects the recorded node, or say that it was not evaluated', () => {
    expect(
      detailsOf(
        decision('a', {
          recordedNodeEvaluated: false,
          recordedNodeRejectedBy: { plugin: 'NodePorts', reasons: ['in use'] },
        })
      )
    ).toEqual([{ kind: 'rejectedBy', plugin: 'NodePorts', node: 'a1', reasons: ['in use'] }])
    expect(detailsOf(decision('a', { recordedNodeEvaluated: false }))).toEqual([{ kind: 'notEvaluated', node: 'a1' }])
    expect(detailsOf(decision('a', { recordedNodeEvaluated: false, outcome: 'matching' }))).toEqual([])
  })
})

it('shows 100% only if all of them match, and 0% only if none does', () => {
  expect([0, 0.0001, 0.5, 0.9996, 1].map(formatShare)).toEqual(['0%', '0.1%', '50.0%', '99.9%', '100%'])
})

it('rounds a share', () => {
  expect([29 / 34, 2 / 3].map(formatShare)).toEqual(['85.3%', '66.7%'])
})
