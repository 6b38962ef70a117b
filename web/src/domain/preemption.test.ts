import { describe, expect, it } from 'vitest'
import type { Cycle, Victim } from '@/api/types'
import { preemptionTable } from './preemption'
import { mockupCycle } from './testing'

describe('preemptionTable', () => {
  const victim = (name: string, priority: number): Victim => ({ pod: { namespace: 'batch', name, uid: name }, priority })
  const candidate = (node: string, pdbViolations: number) => ({ node, victims: [victim(`${node}-v`, 100)], reprieved: [victim(`${node}-r`, 1000)], pdbViolations })
  const table = (preemption: Cycle['preemption']) => preemptionTable(mockupCycle({ preemption } as Partial<Cycle>))

  it('is absent when nothing was dry run', () => {
    expect(table(undefined)).toBeUndefined()
  })
  it('puts the chosen candidate first and says at which rule each other fell behind', () => {
    const found = table({ candidates: [candidate('a', 2), candidate('b', 0), candidate('c', 0)], chosen: 'c', rule: 'lowestHighestPriority' })
    expect(found?.rows.map((r) => `${r.node}${r.chosen ? ' chosen' : ''} ${r.outBy ?? '-'}`)).toEqual(['c chosen -', 'b -', 'a fewestPDBViolations'])
    expect(found?.verdict).toEqual({ kind: 'rule', rule: 'lowestHighestPriority' })
  })
  it('knows one candidate, none, and none chosen', () => {
    expect(table({ candidates: [candidate('a', 1)], chosen: 'a' })).toMatchObject({ verdict: { kind: 'onlyOne' }, rows: [{ outBy: undefined }] })
    expect(table({ candidates: [] })?.verdict).toEqual({ kind: 'none' })
    expect(table({ candidates: [candidate('a', 0), candidate('b', 0)] })?.verdict).toEqual({ kind: 'notChosen' })
  })
  it('follows the rules up to the one that decided, and compares nothing after it', () => {
    const one = (node: string, ...victims: Victim[]) => ({ node, victims, pdbViolations: 0 })
    const found = table({ candidates: [one('a', victim('x', 1000)), one('b', victim('y', 100), victim('z', 50)), one('c', victim('w', 100))], chosen: 'c', rule: 'lowestSumOfPriorities' })
    // b's plain sum is 150; what counts against it is that two victims are more than one.
    expect(found?.rows.map((r) => `${r.node} ${r.outBy ?? '-'} ${r.values.lowestSumOfPriorities}`)).toEqual(['c - 100', 'b lowestSumOfPriorities 150', 'a lowestHighestPriority 1000'])
    expect(found?.decided).toBe('lowestSumOfPriorities')
  })
  it('takes the earliest start among the most important victims', () => {
    const started = (name: string, priority: number, startTime: string): Victim => ({ ...victim(name, priority), startTime })
    const one = (node: string, ...victims: Victim[]) => ({ node, victims, pdbViolations: 0 })
    const found = table({
      candidates: [one('a', started('x', 9, '2026-01-01T10:00:00Z')), one('b', started('y', 9, '2026-01-01T11:00:00Z'))],
      chosen: 'b',
      rule: 'latestEarliestStartTime',
    })
    expect(found?.rows.map((r) => [r.node, r.values.latestEarliestStartTime, r.outBy])).toEqual([
      ['b', '2026-01-01T11:00:00Z', undefined],
      ['a', '2026-01-01T10:00:00Z', 'latestEarliestStartTime'],
    ])
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
