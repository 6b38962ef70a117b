import { describe, expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { cardPlace, decisionToRead, preemptionToRead, stepFrom, stepsFor } from './steps'

const facts = { hasNodes: false, hasPreemption: false, mayCreate: true }

describe('the steps', () => {
  it('lead from an empty cluster to reading a preemption', () => {
    expect(stepsFor(facts)).toEqual(['sample', 'pod', 'decision', 'filter', 'score', 'preempt', 'preemption', 'more'])
  })
  it('start with a pod in a cluster with nodes, and use a preemption that is there', () => {
    expect(stepsFor({ ...facts, hasNodes: true, hasPreemption: true })).toEqual([
      'pod',
      'decision',
      'filter',
      'score',
      'preemption',
      'more',
    ])
  })
  it('create nothing in a cluster of somebody else', () => {
    expect(stepsFor({ hasNodes: true, hasPreemption: false, mayCreate: false })).toEqual([
      'pod',
      'decision',
      'filter',
      'score',
      'more',
    ])
  })
  it('go on and back, also from a step that no longer applies', () => {
    const full = { ...facts, hasNodes: true }
    expect([
      stepFrom('sample', 1, full),
      stepFrom('pod', -1, full),
      stepFrom('filter', -1, full),
      stepFrom('more', 1, full),
    ]).toEqual(['pod', undefined, 'decision', undefined])
    expect([
      stepFrom('preempt', 1, { ...full, hasPreemption: true }),
      stepFrom('preempt', -1, { ...full, hasPreemption: true }),
    ]).toEqual(['preemption', 'score'])
  })
})

it('reads a decision with scores, and the newest preemption', () => {
  const one = (name: string, outcome: string, feasible: number, nominatedNode?: string) =>
    ({ pod: { name }, outcome, nodes: { feasible }, ...(nominatedNode ? { nominatedNode } : {}) }) as unknown as Summary
  const all = [
    one('held', 'unschedulable', 0),
    one('only', 'scheduled', 1),
    one('scored', 'scheduled', 3),
    one('urgent', 'unschedulable', 0, 'n'),
  ]
  expect([decisionToRead(all)?.pod.name, preemptionToRead(all)?.pod.name]).toEqual(['scored', 'urgent'])
  expect([decisionToRead(all.slice(0, 2))?.pod.name, decisionToRead([]), preemptionToRead(all.slice(0, 3))]).toEqual([
    'only',
    undefined,
    undefined,
  ])
})

describe('the card', () => {
  const view = { width: 1000, height: 800 }
  const card = { width: 300, height: 200 }
  const at = (left: number, top: number, width: number, height: number) =>
    cardPlace({ left, right: left + width, top, bottom: top + height }, card, view)
  it('stands below its target, beside it, or above it', () => {
    expect(at(100, 100, 200, 50)).toEqual({ left: 100, top: 162 })
    expect(at(100, 600, 200, 150)).toEqual({ left: 312, top: 592 })
    expect(at(100, 600, 880, 150)).toEqual({ left: 100, top: 388 })
  })
  it('stands in the corner for a large target, and for none', () => {
    const corner = { left: 684, top: 584 }
    expect([at(0, 0, 900, 700), at(0, 900, 100, 100), cardPlace(undefined, card, view)]).toEqual([
      corner,
      corner,
      corner,
    ])
  })
  it('stays within a phone', () => {
    const phone = { width: 390, height: 700 }
    for (const top of [0, 300, 650]) {
      const { left } = cardPlace({ left: 200, right: 380, top, bottom: top + 40 }, card, phone)
      expect(left + card.width).toBeLessThanOrEqual(phone.width)
    }
  })
})
