import { describe, expect, it } from 'vitest'
import type { Session, SessionDecision, SessionJob } from '@/api/types'
import {
  decisionsAbout,
  jobToTell,
  lookOf,
  mostOf,
  queueBar,
  queuesWithJobs,
  resourcesOf,
  shortOf,
  subjectOf,
} from './session'

const job = (name: string, more: Partial<SessionJob> = {}): SessionJob => ({
  namespace: 'default',
  name,
  queue: 'prod',
  minMember: 3,
  priority: 0,
  tasks: 3,
  running: 0,
  ready: 0,
  pipelined: 0,
  share: 0,
  ...more,
})
const decision = (kind: string, reason: string, more: Partial<SessionDecision> = {}): SessionDecision => ({
  kind,
  reason,
  share: 0,
  ...more,
})
const session = (more: Partial<Session>): Session =>
  ({
    number: 1,
    uid: '',
    rules: 'kube-batch',
    startTime: '',
    durationSeconds: 0,
    nodes: [],
    total: {},
    tiers: [],
    queues: [],
    jobs: [],
    actions: [],
    bound: 0,
    evicted: 0,
    pipelined: 0,
    ...more,
  }) as Session

describe('a bar', () => {
  it('shows what is over the deserved part apart', () => {
    expect(queueBar(48, 38, 64, 64)).toEqual({
      marks: [{ kind: 'share', at: 59.375 }],
      stretches: [
        { kind: 'share', from: 0, width: 59.375 },
        { kind: 'room', from: 59.375, width: 40.625 },
        { kind: 'used', from: 0, width: 59.375 },
        { kind: 'over', from: 59.375, width: 15.625 },
      ],
    })
  })
  it('has no mark without proportion, and nothing without room', () => {
    expect(queueBar(4, undefined, 8, 8).marks).toEqual([])
    expect(queueBar(4, 2, 8, 0).stretches).toEqual([])
  })
})

describe('a session', () => {
  const record = session({
    total: { memory: 1, cpu: 96, 'example.com/gpu': 2, pods: 0 },
    queues: [
      { name: 'default', weight: 1, before: {}, after: {}, request: {}, share: 0, shareAfter: 0 },
      {
        name: 'prod',
        weight: 3,
        before: { cpu: 40 },
        after: { cpu: 44 },
        request: { cpu: 52 },
        deserved: { cpu: 50 },
        share: 0,
        shareAfter: 0,
      },
    ],
    jobs: [job('api'), job('serve', { why: { code: 'room', queue: 'prod', needed: 3, placed: 1 } })],
  })
  it('tells about the first job that does not run, unless another one is chosen', () => {
    expect(jobToTell(record, '')?.name).toBe('serve')
    expect(jobToTell(record, 'default/api')?.name).toBe('api')
    expect(jobToTell(record, 'default/gone')).toBeUndefined()
  })
  it('leaves out queues without jobs, and resources that no node has', () => {
    expect(queuesWithJobs(record).map(({ name }) => name)).toEqual(['prod'])
    expect(resourcesOf(record)).toEqual(['cpu', 'memory', 'example.com/gpu'])
    expect(mostOf(record.queues, 'cpu')).toBe(52)
  })
})

describe('decisions', () => {
  it('look like what they did', () => {
    expect(lookOf(decision('allocated', 'idle', { bound: true })).frame).toBe('yes')
    expect(lookOf(decision('allocated', 'idle')).icon).toBe('pause')
    expect(
      ['pipelined', 'refused', 'skipped', 'discarded', 'committed', 'kept', 'enqueued'].map(
        (kind) => lookOf(decision(kind, '')).icon
      )
    ).toEqual(['pin', 'x', 'skip', 'reset', 'check', 'clock', 'arrow'])
  })
  it('are about a task, a job or a queue', () => {
    expect(subjectOf(decision('refused', '', { job: 'default/a', task: 'default/a-0', queue: 'q' }))).toBe('a-0')
    expect(subjectOf(decision('discarded', '', { job: 'default/a', queue: 'q' }))).toBe('a')
    expect(subjectOf(decision('skipped', '', { queue: 'q' }))).toBe('q')
    expect(shortOf(undefined)).toBe('')
  })
  it('about a job include those about whole queues', () => {
    const all = [
      decision('refused', '', { job: 'default/a', task: 'default/a-0' }),
      decision('skipped', '', { queue: 'q' }),
      decision('refused', '', { job: 'default/b' }),
    ]
    expect(decisionsAbout(all, 'default/a')).toEqual(all.slice(0, 2))
    expect(decisionsAbout(all, '')).toBe(all)
  })
})
