import { expect, it } from 'vitest'
import type { Cycle, PermitWait } from '@/api/types'
import { isShown, nameParts, pipeline, verdicts, waitEnd } from './cycle'
import { explained, sampleCycle } from './testing'

it('gives each node its verdict', () => {
  const of = verdicts(sampleCycle())
  expect(of('node-a1')).toEqual({ kind: 'rejected', plugin: 'NodeResourcesFit', reason: 'Insufficient cpu' })
  expect(of('node-b2')).toMatchObject({ kind: 'scored', rank: 1, chosen: true, total: 823, share: 1 })
  expect(of('node-z9')).toEqual({ kind: 'absent' })
  const stopped = explained({ notEvaluated: { nodes: 87, why: 'enoughFeasibleNodes', wanted: 6 } })
  expect(verdicts(sampleCycle({ explanation: stopped }))('node-z9')).toEqual({
    kind: 'notEvaluated',
    why: 'enoughFeasibleNodes',
  })
  expect(verdicts(sampleCycle({ score: undefined } as Partial<Cycle>))('node-b2')).toEqual({
    kind: 'feasible',
    chosen: true,
  })
})

it('lists the pipeline’s stages, and those that did not run', () => {
  const micro = (seconds: number | undefined) => (seconds === undefined ? '-' : Math.round(seconds * 1e6))
  const queue = { addedTime: '2026-01-01T10:42:18.039Z', attempts: 3 }
  expect(
    pipeline(sampleCycle({ queue })).map(
      (s) => `${s.group} ${s.name}: ${s.ran ? `${s.plugins}+${s.skipped} ${micro(s.durationSeconds)}` : 'not run'}`
    )
  ).toEqual([
    'queue PreEnqueue: not run',
    'queue Queue: 0+0 2000',
    'scheduling PreFilter: 6+1 96',
    'scheduling Filter: 7+0 412',
    'scheduling PostFilter: not run',
    'scheduling PreScore: not run',
    'scheduling Score: 7+1 238',
    'scheduling Reserve: not run',
    'scheduling Permit: 0+0 2',
    'binding PreBindPreFlight: not run',
    'binding WaitOnPermit: not run',
    'binding PreBind: not run',
    'binding Bind: not run',
    'binding PostBind: not run',
    'binding Unreserve: not run',
  ])
})

it('has steps for the rare extension points only where they have something to say', () => {
  const answer = (plugin: string, status: 'Success' | 'Skip') => ({ plugin, status, durationSeconds: 1e-6 })
  const rare = (change: Partial<Cycle>) =>
    pipeline(sampleCycle(change))
      .filter((s) => isShown(s) && ['PreBindPreFlight', 'WaitOnPermit', 'Unreserve'].includes(s.name))
      .map((s) => s.name)
  expect(rare({})).toEqual([])
  expect(rare({ preBindPreFlight: [answer('VolumeBinding', 'Skip')] })).toEqual([])
  expect(
    rare({
      preBindPreFlight: [answer('VolumeBinding', 'Success')],
      permitWait: { plugins: ['Hold'], durationSeconds: null },
      unreserve: [answer('VolumeBinding', 'Success')],
    })
  ).toEqual(['PreBindPreFlight', 'WaitOnPermit', 'Unreserve'])
})

it('says how a wait for a permit ended', () => {
  const wait = (change: Partial<PermitWait>) => waitEnd({ plugins: ['Hold'], durationSeconds: 1, ...change })
  expect(wait({ durationSeconds: null })).toBe('waiting')
  expect(wait({ status: 'Success' })).toBe('allowed')
  expect(wait({ status: 'Unschedulable', plugin: 'Hold' })).toBe('rejected')
  expect(wait({ status: 'Unschedulable', plugin: 'Hold', timedOut: true })).toBe('timedOut')
  expect(wait({ status: 'Error', plugin: 'DefaultPreemption' })).toBe('preempted')
  expect(wait({ status: 'Unschedulable' })).toBe('over')
})

it('assigns requests to extenders to their extension points, which then count as run', () => {
  const call = (verb: 'filter' | 'bind') => ({
    plugin: 'http://ext',
    verb,
    status: 'Success' as const,
    durationSeconds: 0.001,
  })
  const stages = pipeline(sampleCycle({ extenders: [call('filter'), call('bind')] }))
  expect(stages.filter((s) => s.calls.length).map((s) => `${s.name} ${s.ran} ${s.calls.length}`)).toEqual([
    'Filter true 1',
    'Bind true 1',
  ])
})

it('breaks plugin names between words', () => {
  expect(nameParts('NodeResourcesBalancedAllocation')).toEqual(['Node', 'Resources', 'Balanced', 'Allocation'])
  expect(nameParts('http://127.0.0.1:8888/x')).toEqual(['127.', '0.', '0.', '1:', '8888/', 'x'])
})
