import { describe, expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { queueFacts } from './queueFacts'
import { sampleCycle } from './testing'

type Queue = NonNullable<Cycle['queue']>
const facts = (queue: Partial<Queue>) =>
  queueFacts(sampleCycle({ queue: { addedTime: '2026-01-01T10:42:16.041Z', attempts: 3, ...queue } }))

describe('queueFacts', () => {
  it('is absent if the record has no queue', () => {
    expect(queueFacts(sampleCycle())).toBeUndefined()
  })
  it('has the time in the queue', () => {
    expect(facts({})).toEqual({
      entered: '2026-01-01T10:42:16.041Z',
      waitedSeconds: 2,
      rejectedBy: [],
      backoff: undefined,
      back: undefined,
      ownCount: undefined,
    })
  })
  it('keeps the fractions of a millisecond', () => {
    expect(facts({ addedTime: '2026-01-01T10:42:18.040881Z' })?.waitedSeconds).toBeCloseTo(119e-6, 9)
    expect(facts({ addedTime: '2026-01-01T10:42:17.99Z' })?.waitedSeconds).toBeCloseTo(0.051, 9)
  })
  it('names the event, its object and the plugin of the queueing hint', () => {
    const requeuedBy = {
      time: '2026-01-01T10:42:18.040Z',
      event: 'AssignedPodDelete',
      kind: 'Pod',
      namespace: 'batch',
      name: 'etl-8',
      plugin: 'NodeResourcesFit',
    }
    expect(facts({ requeuedBy })?.back).toEqual({
      kind: 'event',
      event: 'AssignedPodDelete',
      object: 'batch/etl-8',
      plugin: 'NodeResourcesFit',
      time: requeuedBy.time,
    })
    expect(
      facts({ requeuedBy: { time: '', event: 'NodeAdd', kind: 'Node', name: 'n1', plugin: 'P' } })?.back
    ).toMatchObject({ object: 'n1' })
    expect(facts({ flushed: true })?.back).toEqual({ kind: 'flushed' })
  })
  it('detects an attempt that started before the backoff ended', () => {
    expect(facts({ backoffUntil: '2026-01-01T10:42:18Z' })?.backoff?.early).toBe(false)
    expect(facts({ backoffUntil: '2026-01-01T10:42:19Z' })?.backoff?.early).toBe(true)
  })
  it('has the scheduler’s own count only if it differs', () => {
    expect(facts({ attempts: 1 })?.ownCount).toBe(1)
  })
})
