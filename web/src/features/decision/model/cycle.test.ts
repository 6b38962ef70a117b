import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { nameParts, pipeline, verdicts } from './cycle'
import { explained, sampleCycle } from './testing'

it('gives each node its verdict', () => {
  const of = verdicts(sampleCycle())
  expect(of('node-a1')).toEqual({ kind: 'rejected', plugin: 'NodeResourcesFit', reason: 'Insufficient cpu' })
  expect(of('node-b2')).toMatchObject({ kind: 'scored', rank: 1, chosen: true, total: 823, share: 1 })
  expect(of('node-z9')).toEqual({ kind: 'absent' })
  const stopped = explained({ notEvaluated: { nodes: 87, why: 'enoughFeasibleNodes', wanted: 6 } })
  expect(verdicts(sampleCycle({ explanation: stopped }))('node-z9')).toEqual({ kind: 'notEvaluated', why: 'enoughFeasibleNodes' })
  expect(verdicts(sampleCycle({ score: undefined } as Partial<Cycle>))('node-b2')).toEqual({ kind: 'feasible', chosen: true })
})

it('lists the pipeline’s stages, and those that did not run', () => {
  const micro = (seconds: number | undefined) => (seconds === undefined ? '-' : Math.round(seconds * 1e6))
  const queue = { addedTime: '2026-01-01T10:42:18.039Z', attempts: 3 }
  expect(pipeline(sampleCycle({ queue })).map((s) => `${s.group} ${s.name}: ${s.ran ? `${s.plugins}+${s.skipped} ${micro(s.durationSeconds)}` : 'not run'}`)).toEqual([
    'queue PreEnqueue: not run',
    'queue Queue: 0+0 2000',
    'scheduling PreFilter: 6+1 96',
    'scheduling Filter: 7+0 412',
    'scheduling PostFilter: not run',
    'scheduling PreScore: not run',
    'scheduling Score: 7+1 238',
    'scheduling Reserve: not run',
    'scheduling Permit: 0+0 2',
    'binding PreBind: not run',
    'binding Bind: not run',
    'binding PostBind: not run',
  ])
})

it('assigns requests to extenders to their extension points, which then count as run', () => {
  const call = (verb: 'filter' | 'bind') => ({ plugin: 'http://ext', verb, status: 'Success' as const, durationSeconds: 0.001 })
  const stages = pipeline(sampleCycle({ extenders: [call('filter'), call('bind')] }))
  expect(stages.filter((s) => s.calls.length).map((s) => `${s.name} ${s.ran} ${s.calls.length}`)).toEqual(['Filter true 1', 'Bind true 1'])
})

it('breaks plugin names between words', () => {
  expect(nameParts('NodeResourcesBalancedAllocation')).toEqual(['Node', 'Resources', 'Balanced', 'Allocation'])
  expect(nameParts('http://127.0.0.1:8888/x')).toEqual(['127.', '0.', '0.', '1:', '8888/', 'x'])
})
