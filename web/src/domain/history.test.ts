import { describe, expect, it } from 'vitest'
import type { Cycle, Victim } from '@/api/types'
import { preemptionTable, queueFacts } from './history'
import { mockupCycle } from './testing'

type Queue = NonNullable<Cycle['queue']>
const facts = (queue: Partial<Queue>) => queueFacts(mockupCycle({ queue: { addedTime: '2026-01-01T10:42:16.041Z', attempts: 3, ...queue } }))

describe('queueFacts', () => {
  it('is absent when the record has none', () => {
    expect(queueFacts(mockupCycle())).toBeUndefined()
  })
  it('says how long the pod was in the queue', () => {
    expect(facts({})).toEqual({ entered: '2026-01-01T10:42:16.041Z', waitedSeconds: 2, rejectedBy: [], backoff: undefined, back: undefined, ownCount: undefined })
  })
  it('keeps the fractions of a millisecond', () => {
    expect(facts({ addedTime: '2026-01-01T10:42:18.040881Z' })?.waitedSeconds).toBeCloseTo(119e-6, 9)
    expect(facts({ addedTime: '2026-01-01T10:42:17.99Z' })?.waitedSeconds).toBeCloseTo(0.051, 9)
  })
  it('names the event, its object and whose hint it was', () => {
    const requeuedBy = { time: '2026-01-01T10:42:18.040Z', event: 'AssignedPodDelete', kind: 'Pod', namespace: 'batch', name: 'etl-8', plugin: 'NodeResourcesFit' }
    expect(facts({ requeuedBy })?.back).toEqual({ kind: 'event', event: 'AssignedPodDelete', object: 'batch/etl-8', plugin: 'NodeResourcesFit', time: requeuedBy.time })
    expect(facts({ requeuedBy: { time: '', event: 'NodeAdd', kind: 'Node', name: 'n1', plugin: 'P' } })?.back).toMatchObject({ object: 'n1' })
    expect(facts({ flushed: true })?.back).toEqual({ kind: 'flushed' })
  })
  it('notices an attempt that began before the backoff ended', () => {
    expect(facts({ backoffUntil: '2026-01-01T10:42:18Z' })?.backoff?.early).toBe(false)
    expect(facts({ backoffUntil: '2026-01-01T10:42:19Z' })?.backoff?.early).toBe(true)
  })
  it('mentions the scheduler’s own count only where it differs', () => {
    expect(facts({ attempts: 1 })?.ownCount).toBe(1)
  })
})

describe('preemptionTable', () => {
  const victim = (name: string, priority: number): Victim => ({ pod: { namespace: 'batch', name, uid: name }, priority })
  const candidate = (node: string, pdbViolations: number) => ({ node, victims: [victim(`${node}-v`, 100)], reprieved: [victim(`${node}-r`, 1000)], pdbViolations })
  const table = (preemption: Cycle['preemption']) => preemptionTable(mockupCycle({ preemption } as Partial<Cycle>))

  it('is absent when nothing was dry run', () => {
    expect(table(undefined)).toBeUndefined()
  })
  it('puts the chosen candidate first and marks those with too many violations', () => {
    const found = table({ candidates: [candidate('a', 2), candidate('b', 0), candidate('c', 0)], chosen: 'c', rule: 'lowestHighestPriority' })
    expect(found?.rows.map((r) => `${r.node}${r.chosen ? ' chosen' : ''}${r.tooManyViolations ? ' out' : ''}`)).toEqual(['c chosen', 'a out', 'b'])
    expect(found?.verdict).toEqual({ kind: 'rule', rule: 'lowestHighestPriority' })
  })
  it('knows one candidate, none, and none chosen', () => {
    expect(table({ candidates: [candidate('a', 1)], chosen: 'a' })).toMatchObject({ verdict: { kind: 'onlyOne' }, rows: [{ tooManyViolations: false }] })
    expect(table({ candidates: [] })?.verdict).toEqual({ kind: 'none' })
    expect(table({ candidates: [candidate('a', 0), candidate('b', 0)] })?.verdict).toEqual({ kind: 'notChosen' })
  })
  it('counts the unhelpful nodes by reason', () => {
    const unhelpful = [
      { status: 'Unschedulable', plugin: 'P', reasons: ['x'], nodes: ['a'] },
      { status: 'Unschedulable', plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'], nodes: ['b', 'c'] },
      { status: 'UnschedulableAndUnresolvable', plugin: 'P', reasons: ['x'], nodes: ['d', 'e'] },
    ]
    expect(table({ candidates: [], unhelpful })?.unhelpful).toEqual([
      { plugin: 'P', reason: 'x', nodes: ['a', 'd', 'e'] },
      { plugin: 'NodeResourcesFit', reason: 'Insufficient cpu', nodes: ['b', 'c'] },
    ])
  })
})
