import { expect, it } from 'vitest'
import type { ReplayDecision } from '@/api/replay'
import { decisionKey, filterDecisions, formatShare, matchShare, sortDecisions } from './replayDecisions'

const decision = (name: string, change: Partial<ReplayDecision> = {}): ReplayDecision => ({
  pod: { namespace: 'shop', name, uid: name },
  time: '2026-11-20T08:00:00Z',
  outcome: 'different',
  recordedNode: 'a1',
  simulatedNode: 'b1',
  reason: { kind: 'sameNode', node: 'b1' },
  why: 'better total',
  recordedNodeEvaluated: true,
  ...change,
})
const why = (d: ReplayDecision) => d.why
const all = [
  decision('web-10'),
  decision('web-2', { time: '2026-11-20T08:00:01Z', why: 'NodeResourcesFit rejected a1' }),
  decision('db', { recordedNode: 'c1' }),
]

it('finds decisions by pod, node and reason', () => {
  expect(filterDecisions(all, 'fit WEB', why).map((d) => d.pod.name)).toEqual(['web-2'])
  expect(filterDecisions(all, 'c1', why).map((d) => d.pod.name)).toEqual(['db'])
  expect(filterDecisions(all, '', why)).toBe(all)
})
it('sorts numbers in names as numbers', () => {
  expect(sortDecisions(all, 'pod', why).map((d) => d.pod.name)).toEqual(['db', 'web-2', 'web-10'])
  expect(sortDecisions(all, '-time', why)[0]?.pod.name).toBe('web-2')
  expect(sortDecisions(all, '-why', why).map((d) => d.pod.name)).toEqual(['web-2', 'web-10', 'db'])
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
it('shows 100% only if all of them match, and 0% only if none does', () => {
  expect([0, 0.0001, 0.5, 0.9996, 1].map(formatShare)).toEqual(['0%', '0.1%', '50.0%', '99.9%', '100%'])
})

it('rounds a share', () => {
  expect([29 / 34, 2 / 3].map(formatShare)).toEqual(['85.3%', '66.7%'])
})
