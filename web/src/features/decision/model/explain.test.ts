import { describe, expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { roomMade, say } from './explain'
import { explained, mockupCycle } from './testing'

const cycle = (change: Partial<{ [K in keyof Cycle]: Cycle[K] | undefined }>) => mockupCycle(change as Partial<Cycle>)
const refused = { outcome: 'unschedulable', selectedNode: undefined, score: undefined } as const

describe('say', () => {
  it('best of several', () => {
    expect(say(mockupCycle())).toEqual({ kind: 'best', node: 'node-b2', total: 823, feasible: 6, margin: 41, next: 'node-a3' })
  })
  it('by chance, naming the others', () => {
    const explanation = explained({ margin: { over: 'node-a3', total: 0, tied: ['node-a3', 'node-c3'], parts: [] } })
    expect(say(cycle({ explanation }))).toEqual({ kind: 'tied', node: 'node-b2', total: 823, feasible: 6, others: ['node-a3', 'node-c3'] })
  })
  it('by the seed, where a fact says that it decided', () => {
    const explanation = explained({ margin: { over: 'node-a3', total: 0, tied: ['node-a3'], parts: [] } })
    const facts = [{ plugin: 'TieSeed', key: 'tie broken by seed', value: 'node-b2 among 2 nodes with the same total, by seed 7' }]
    expect(say(cycle({ explanation, facts }))).toEqual({ kind: 'tiedBySeed', node: 'node-b2', total: 823, feasible: 6, others: ['node-a3'] })
  })
  it('the only feasible node, and several that were not scored', () => {
    const one = { total: 12, evaluated: 12, feasible: 1 }
    expect(say(cycle({ score: undefined, explanation: explained(), nodes: one }))).toEqual({ kind: 'only', node: 'node-b2', evaluated: 12 })
    expect(say(cycle({ score: undefined, explanation: explained() }))).toEqual({ kind: 'selected', node: 'node-b2', feasible: 6 })
  })
  it('a node hint, a nominated node', () => {
    expect(say(cycle({ hint: { node: 'node-b2', used: true } }))).toEqual({ kind: 'hinted', node: 'node-b2' })
    expect(say(cycle({ hint: { node: 'node-a1', used: false } })).kind).toBe('best')
    const explanation = explained({ notEvaluated: { nodes: 11, why: 'nominatedNode' } })
    expect(say(cycle({ score: undefined, explanation }))).toEqual({ kind: 'wasNominated', node: 'node-b2' })
  })
  it('no node fits', () => {
    expect(say(cycle({ ...refused, explanation: explained({ rejections: [{ plugin: 'A', nodes: 12, reasons: [] }] }) }))).toEqual({
      kind: 'noNode',
      evaluated: 12,
      total: 12,
      rejecters: [{ plugin: 'A', nodes: 12 }],
    })
  })
  it('rejected in PreFilter', () => {
    const preFilter = [{ plugin: 'VolumeBinding', status: 'UnschedulableAndUnresolvable' as const, reasons: ['no claim'], durationSeconds: 0 }]
    const explanation = explained({ notEvaluated: { nodes: 12, why: 'preFilter', plugins: ['VolumeBinding'] } })
    expect(say(cycle({ ...refused, filter: undefined, preFilter, explanation }))).toEqual({ kind: 'preFilter', plugins: ['VolumeBinding'], reasons: ['no claim'] })
  })
  it('rejected after a node was chosen, by a plugin or without one', () => {
    const permit = [{ plugin: 'P', status: 'Unschedulable' as const, reasons: ['later'], durationSeconds: 0 }]
    expect(say(cycle({ outcome: 'unschedulable', permit }))).toEqual({ kind: 'refusedLater', stage: 'Permit', plugin: 'P', reasons: ['later'], node: 'node-b2' })
    expect(say(cycle({ outcome: 'unschedulable', message: 'timed out' }))).toEqual({ kind: 'lost', node: 'node-b2', message: 'timed out' })
  })
  it('waiting, an error, an empty cluster, anything else', () => {
    expect(say(cycle({ outcome: 'waiting', permit: [{ plugin: 'P', status: 'Wait', durationSeconds: 0 }] }))).toEqual({ kind: 'waiting', node: 'node-b2', plugins: ['P'] })
    expect(say(cycle({ outcome: 'error', message: 'boom' }))).toEqual({ kind: 'error', message: 'boom' })
    expect(say(cycle({ ...refused, nodes: { total: 0, evaluated: 0, feasible: 0 } }))).toEqual({ kind: 'noNodes' })
    expect(say(cycle({ ...refused, filter: undefined, explanation: explained(), message: 'why' }))).toEqual({ kind: 'unschedulable', message: 'why' })
  })
})

it('tells on which node preemption made room, and by how many pods', () => {
  const victim = { pod: { namespace: 'batch', name: 'etl-1', uid: 'v' }, priority: 100 }
  const preemption = { candidates: [{ node: 'n', victims: [victim], pdbViolations: 0 }], chosen: 'n' }
  expect(roomMade(cycle({ ...refused, preemption }))).toEqual({ node: 'n', victims: 1 })
  expect(roomMade(cycle({ ...refused, nominatedNode: 'm' }))).toEqual({ node: 'm', victims: undefined })
  expect(roomMade(cycle({ ...refused }))).toBeUndefined()
  expect(roomMade(cycle({ nominatedNode: 'm' }))).toBeUndefined()
})
