import { describe, expect, it } from 'vitest'
import type { Cycle, Victim } from '@/api/types'
import { aftermath, decidingValues, preemptionTable, putBack } from './preemption'
import { sampleCycle } from './testing'

describe('preemptionTable', () => {
  const victim = (name: string, priority: number): Victim => ({
    pod: { namespace: 'batch', name, uid: name },
    priority,
  })
  const candidate = (node: string, pdbViolations: number) => ({
    node,
    victims: [victim(`${node}-v`, 100)],
    reprieved: [victim(`${node}-r`, 1000)],
    pdbViolations,
  })
  const table = (preemption: Cycle['preemption']) => preemptionTable(sampleCycle({ preemption } as Partial<Cycle>))

  it('is absent without dry runs', () => {
    expect(table(undefined)).toBeUndefined()
  })
  it('puts the chosen candidate first, and has the rule that eliminated each other one', () => {
    const found = table({
      candidates: [candidate('a', 2), candidate('b', 0), candidate('c', 0)],
      chosen: 'c',
      rule: 'lowestHighestPriority',
    })
    expect(found?.rows.map((r) => `${r.node}${r.chosen ? ' chosen' : ''} ${r.outBy ?? '-'}`)).toEqual([
      'c chosen -',
      'b -',
      'a fewestPDBViolations',
    ])
    expect(found?.verdict).toEqual({ kind: 'rule', rule: 'lowestHighestPriority' })
  })
  it('counts what the record left out', () => {
    const found = table({
      candidates: [{ ...candidate('a', 0), victimsDropped: 4, reprievedDropped: 2 }],
      candidatesDropped: 99,
    })
    expect(found?.candidates).toBe(100)
    expect(found?.rows[0]).toMatchObject({ victimsDropped: 4, reprievedDropped: 2, values: { fewestVictims: 5 } })
  })
  it('handles one candidate, none, and none chosen', () => {
    expect(table({ candidates: [candidate('a', 1)], chosen: 'a' })).toMatchObject({
      verdict: { kind: 'onlyOne' },
      rows: [{ outBy: undefined }],
    })
    expect(table({ candidates: [] })?.verdict).toEqual({ kind: 'none' })
    expect(table({ candidates: [candidate('a', 0), candidate('b', 0)] })?.verdict).toEqual({ kind: 'notChosen' })
  })
  it('applies the rules up to the deciding one', () => {
    const one = (node: string, ...victims: Victim[]) => ({ node, victims, pdbViolations: 0 })
    const found = table({
      candidates: [
        one('a', victim('x', 1000)),
        one('b', victim('y', 100), victim('z', 50)),
        one('c', victim('w', 100)),
      ],
      chosen: 'c',
      rule: 'lowestSumOfPriorities',
    })
    // b's plain sum is 150, but the scheduler adds 2³¹ for each of its two victims.
    expect(found?.rows.map((r) => `${r.node} ${r.outBy ?? '-'} ${r.values.lowestSumOfPriorities}`)).toEqual([
      'c - 100',
      'b lowestSumOfPriorities 150',
      'a lowestHighestPriority 1000',
    ])
    expect(found?.decided).toBe('lowestSumOfPriorities')
  })
  it('uses the earliest start among the highest-priority victims', () => {
    const started = (name: string, priority: number, startTime: string): Victim => ({
      ...victim(name, priority),
      startTime,
    })
    const one = (node: string, ...victims: Victim[]) => ({ node, victims, pdbViolations: 0 })
    const found = table({
      candidates: [
        one('a', started('x', 9, '2026-01-01T10:00:00Z')),
        one('b', started('y', 9, '2026-01-01T11:00:00Z')),
      ],
      chosen: 'b',
      rule: 'latestEarliestStartTime',
    })
    expect(found?.rows.map((r) => [r.node, r.values.latestEarliestStartTime, r.outBy])).toEqual([
      ['b', '2026-01-01T11:00:00Z', undefined],
      ['a', '2026-01-01T10:00:00Z', 'latestEarliestStartTime'],
    ])
  })
  it('takes a victim that has not started as starting now', () => {
    const one = (node: string, ...victims: Victim[]) => ({ node, victims, pdbViolations: 0 })
    const found = table({
      candidates: [one('a', { ...victim('x', 9), startTime: '2026-01-01T10:00:00Z' }), one('b', victim('y', 9))],
      chosen: 'b',
      rule: 'latestEarliestStartTime',
    })
    expect(found?.rows.map((r) => [r.node, r.outBy])).toEqual([
      ['b', undefined],
      ['a', 'latestEarliestStartTime'],
    ])
  })
  it('compares no candidate that the scheduler did not consider', () => {
    const found = table({ candidates: [{ ...candidate('a', 0), surplus: true }, candidate('b', 2)], chosen: 'b' })
    expect(found?.rows.map((r) => `${r.node} ${r.outBy ?? '-'}`)).toEqual(['b -', 'a -'])
    expect(found?.verdict).toEqual({ kind: 'onlyConsidered' })
  })
  it('has the deciding value and the next best', () => {
    const one = (node: string, ...victims: Victim[]) => ({ node, victims, pdbViolations: 0 })
    const found = table({
      candidates: [one('a', victim('x', 5000)), one('b', victim('y', 100)), one('c', victim('w', 1000))],
      chosen: 'b',
      rule: 'lowestHighestPriority',
    })
    expect(found && decidingValues(found)).toEqual({ rule: 'lowestHighestPriority', value: 100, next: 1000 })
    const only = table({ candidates: [one('a', victim('x', 9))], chosen: 'a' })
    expect(only && decidingValues(only)).toBeUndefined()
  })
  it('adds pods back by priority, then by start time', () => {
    const started = (name: string, priority: number, startTime: string): Victim => ({
      ...victim(name, priority),
      startTime,
    })
    const found = table({
      candidates: [
        {
          node: 'a',
          pdbViolations: 0,
          victims: [started('late', 100, '2026-01-01T11:00:00Z')],
          reprieved: [started('early', 100, '2026-01-01T10:00:00Z'), victim('dear', 5000)],
        },
      ],
      chosen: 'a',
    })
    expect(
      found?.rows.flatMap((row) => putBack(row).map((p) => `${p.pod.pod.name} ${p.stays ? 'stays' : 'goes'}`))
    ).toEqual(['dear stays', 'early stays', 'late goes'])
  })
  it('counts the unhelpful nodes by reason', () => {
    const unhelpful = [
      { status: 'Unschedulable', plugin: 'P', reasons: ['x'], nodes: ['a'] },
      { status: 'Unschedulable', plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'], nodes: ['b', 'c'] },
      { status: 'UnschedulableAndUnresolvable', plugin: 'P', reasons: ['x'], nodes: ['d', 'e'] },
    ]
    expect(table({ candidates: [], unhelpful })?.unhelpful).toEqual([
      { why: 'unknown', plugin: 'P', reason: 'x', nodes: ['a', 'd', 'e'] },
      { why: 'unknown', plugin: 'NodeResourcesFit', reason: 'Insufficient cpu', nodes: ['b', 'c'] },
    ])
  })
  it('counts nodes whose reasons differ by their names together', () => {
    const reason = (node: string) => ({
      status: 'Unschedulable',
      plugin: 'P',
      reasons: [`No victims found on node ${node} for preemptor pod web-7f9c-x2k4`],
      nodes: [node],
    })
    const found = (...unhelpful: ReturnType<typeof reason>[]) => table({ candidates: [], unhelpful })?.unhelpful
    expect(found(reason('n1'), reason('n10'), reason('a.example.com'))).toEqual([
      {
        why: 'unknown',
        plugin: 'P',
        reason: 'No victims found on node … for preemptor pod …',
        nodes: ['n1', 'n10', 'a.example.com'],
      },
    ])
    expect(found(reason('n1'))?.[0]?.reason).toBe('No victims found on node n1 for preemptor pod web-7f9c-x2k4')
  })
  it('tells apart that no pod may be evicted, and that evicting those that may is not enough', () => {
    const nobody = {
      why: 'nobodyLower',
      status: 'UnschedulableAndUnresolvable',
      reasons: ['No preemption victims found for incoming pod'],
      nodes: ['a'],
    } as const
    const tooFew = {
      why: 'notEnough',
      status: 'Unschedulable',
      plugin: 'NodeResourcesFit',
      reasons: ['Insufficient cpu'],
      nodes: ['b'],
    } as const
    const of = (...unhelpful: (typeof nobody | typeof tooFew)[]) =>
      table({
        candidates: [],
        unhelpful: unhelpful.map((u) => ({ ...u, reasons: [...u.reasons], nodes: [...u.nodes] })),
      })
    expect(of(nobody)).toMatchObject({
      verdict: { kind: 'nobodyLower' },
      unhelpful: [{ why: 'nobodyLower', plugin: '', reason: '' }],
    })
    expect(of(nobody, tooFew)?.verdict).toEqual({ kind: 'notEnough' })
    expect(table({ candidates: [], ineligible: 'never' })?.verdict).toEqual({ kind: 'never' })
  })
})

describe('aftermath', () => {
  const victims = [{ pod: { namespace: 'batch', name: 'etl-1', uid: 'v' }, priority: 100 }]
  const first = sampleCycle({
    attempt: 1,
    outcome: 'unschedulable',
    nominatedNode: 'b',
    startTime: '2026-01-01T10:00:00.000Z',
    durationSeconds: 0.5,
    preemption: { candidates: [{ node: 'b', victims, pdbViolations: 0 }], chosen: 'b' },
  })
  const second = sampleCycle({
    attempt: 2,
    selectedNode: 'b',
    startTime: '2026-01-01T10:00:30.500Z',
    queue: {
      addedTime: '2026-01-01T10:00:00.500Z',
      attempts: 2,
      requeuedBy: {
        time: '2026-01-01T10:00:30.400Z',
        event: 'AssignedPodDelete',
        kind: 'Pod',
        namespace: 'batch',
        name: 'etl-1',
        plugin: 'NodeResourcesFit',
      },
    },
  })

  it('lists the events from the nomination to the next attempt', () => {
    expect(aftermath(first, [second], second)).toEqual({
      node: 'b',
      nominated: '2026-01-01T10:00:00.500Z',
      victims: ['etl-1'],
      back: {
        event: 'AssignedPodDelete',
        object: 'batch/etl-1',
        plugin: 'NodeResourcesFit',
        time: '2026-01-01T10:00:30.400Z',
      },
      tries: [{ attempt: 2, node: 'b', time: '2026-01-01T10:00:30.500Z' }],
      hidden: 0,
      ended: { attempt: 2, afterSeconds: 30, onNominated: true },
    })
  })
  it('goes on after a retry that found no node, up to the attempt that did', () => {
    const retry = sampleCycle({ attempt: 2, outcome: 'unschedulable', startTime: '2026-01-01T10:00:02.500Z' })
    delete retry.selectedNode
    const third = { ...second, attempt: 3 }
    const story = aftermath(first, [retry, third, { ...third, attempt: 4 }], retry)
    expect(story?.tries).toEqual([
      { attempt: 2, node: '', time: '2026-01-01T10:00:02.500Z' },
      { attempt: 3, node: 'b', time: '2026-01-01T10:00:30.500Z' },
    ])
    expect(story?.ended).toEqual({ attempt: 3, afterSeconds: 30, onNominated: true })
    // Still waiting: the retry is no end.
    expect(aftermath(first, [retry], retry)).toMatchObject({ tries: [{ attempt: 2 }], ended: undefined })
  })
  it('leaves out retries in the middle of many', () => {
    const retries = Array.from({ length: 9 }, (_, i) =>
      sampleCycle({ attempt: i + 2, outcome: 'unschedulable', selectedNode: '' })
    )
    expect(aftermath(first, retries, undefined)).toMatchObject({
      tries: [{ attempt: 2 }, { attempt: 8 }, { attempt: 9 }, { attempt: 10 }],
      hidden: 5,
    })
  })
  it('is incomplete until the next attempt, and absent if preemption made no room', () => {
    expect(aftermath(first, [], undefined)).toMatchObject({ back: undefined, tries: [], ended: undefined })
    expect(aftermath(second, [], undefined)).toBeUndefined()
  })
})
