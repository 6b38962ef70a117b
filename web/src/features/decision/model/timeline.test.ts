import { expect, it } from 'vitest'
import type { Cycle, Summary } from '@/api/types'
import { sampleCycle } from './testing'
import { timeline } from './timeline'

const at = (second: number) => `2026-01-01T10:42:${String(second).padStart(2, '0')}Z`
const attempt = (n: number, second: number, queue?: Cycle['queue']): Cycle =>
  sampleCycle({ attempt: n, startTime: at(second), ...(queue ? { queue } : {}) })

it('lists the events of a pod: created, tried, requeued by an event, tried again', () => {
  const cycles = [
    attempt(1, 1, { addedTime: at(0), attempts: 1 }),
    attempt(2, 9, {
      addedTime: at(2),
      attempts: 2,
      backoffUntil: at(5),
      requeuedBy: {
        time: at(4),
        event: 'AssignedPodDelete',
        kind: 'Pod',
        namespace: 'shop',
        name: 'etl-8',
        plugin: 'NodeResourcesFit',
      },
    }),
    attempt(3, 20, { addedTime: at(10), attempts: 3, flushed: true, backoffUntil: at(30) }),
  ]
  const events = timeline(cycles as Summary[], new Map(cycles.map((c) => [c.attempt, c])))
  expect(
    events.map(
      (e) => `${e.time.slice(17, 19)} ${e.kind}${e.kind === 'requeued' ? ` ${e.event} ${e.object} ${e.plugin}` : ''}`
    )
  ).toEqual([
    '00 created',
    '01 attempt',
    '04 requeued AssignedPodDelete shop/etl-8 NodeResourcesFit',
    '05 backoff',
    '09 attempt',
    '20 flushed',
    '20 attempt',
  ])
})

it('contains only attempts while their records are not loaded', () => {
  expect(timeline([attempt(1, 1), attempt(2, 2)] as Summary[], new Map()).map((e) => e.kind)).toEqual([
    'attempt',
    'attempt',
  ])
})
