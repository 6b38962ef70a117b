import { describe, expect, it } from 'vitest'
import type { Session, SessionDecision, SessionJob } from '@/api/types'
import { sessions as en } from '@/i18n/en/sessions'
import { decisionText, decisionsAbout, giverText, jobToTell, lookOf, mostOf, queueBar, queuesWithJobs, resourcesOf, shortOf, subjectOf, whyText } from './session'

const job = (name: string, more: Partial<SessionJob> = {}): SessionJob => ({ namespace: 'default', name, queue: 'prod', minMember: 3, priority: 0, tasks: 3, running: 0, ready: 0, pipelined: 0, share: 0, ...more })
const decision = (kind: string, reason: string, more: Partial<SessionDecision> = {}): SessionDecision => ({ kind, reason, share: 0, ...more })
const session = (more: Partial<Session>): Session =>
  ({ number: 1, uid: '', rules: 'kube-batch', startTime: '', durationSeconds: 0, nodes: [], total: {}, tiers: [], queues: [], jobs: [], actions: [], bound: 0, evicted: 0, pipelined: 0, ...more }) as Session

/** The message of a key, found in English. */
const message = (key: string): unknown => key.split('.').slice(1).reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], en.sessions)
const words = (key: string, named: Record<string, string | number>) => String(message(key) ?? `no message ${key}`).replace(/\{(\w+)\}/g, (_, name: string) => String(named[name] ?? `no ${name}`))

describe('a bar', () => {
  it('shows what is over the deserved part apart', () => {
    expect(queueBar(48, 38, 64, 64)).toEqual({
      deserved: 59.375,
      stretches: [
        { kind: 'deserved', from: 0, width: 59.375 },
        { kind: 'asks', from: 59.375, width: 40.625 },
        { kind: 'used', from: 0, width: 59.375 },
        { kind: 'over', from: 59.375, width: 15.625 },
      ],
    })
  })
  it('has no mark without proportion, and nothing without room', () => {
    expect(queueBar(4, undefined, 8, 8).deserved).toBeUndefined()
    expect(queueBar(4, 2, 8, 0).stretches).toEqual([])
  })
})

describe('a session', () => {
  const record = session({
    total: { memory: 1, cpu: 96, 'example.com/gpu': 2, pods: 0 },
    queues: [
      { name: 'default', weight: 1, before: {}, after: {}, request: {}, share: 0, shareAfter: 0 },
      { name: 'prod', weight: 3, before: { cpu: 40 }, after: { cpu: 44 }, request: { cpu: 52 }, deserved: { cpu: 50 }, share: 0, shareAfter: 0 },
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

describe('sentences', () => {
  it('say why a job does not run', () => {
    const why = { code: 'room', queue: 'prod', resource: 'cpu', missing: 8, needed: 3, placed: 1 }
    expect(whyText(job('serve-4'), why, words)).toBe('serve-4 does not run: the nodes lack 8 cpu, and 1 of 3 tasks find room.')
    expect(whyText(job('serve-4'), { ...why, code: 'pieces', missing: 0 }, words)).toBe('serve-4 does not run: the idle room is in pieces. 1 of 3 tasks find room.')
    expect(giverText({ queue: 'research', amount: 10 }, 'cpu', words)).toBe('queue research, 10 cpu over its share')
    expect(giverText({ queue: 'prod', job: 'default/etl-2', amount: 2 ** 33 }, 'memory', words)).toBe('job etl-2 of lower priority, 8 Gi memory')
  })
  it('have words for every cause and every reason of the server', () => {
    const causes = ['noQueue', 'notInqueue', 'tooFewPods', 'overused', 'queueLimit', 'waiting', 'room', 'pieces', 'predicates', 'held']
    const reasons = ['noMinResources', 'overcommit', 'queueCapacity', 'permitted', 'idle', 'releasing', 'noRoom', 'predicates', 'overused', 'queueLimit', 'gangReady', 'gangNotReady', 'gangPipelined', 'noVictims', 'tooFewVictims', 'evicts', 'oneTask', 'bestEffort', 'preemptionNever', 'victimsLeave']
    const variants: Partial<SessionDecision>[] = [{}, { bound: true }, { node: 'n', resource: 'cpu', have: 1, want: 2 }, { victims: [{ task: 'a/b', job: '', queue: '', node: '', plugins: [] }] }]
    const texts = [
      ...causes.map((code) => whyText(job('j'), { code, queue: 'q', needed: 1, placed: 0 }, words)),
      ...reasons.flatMap((reason) => variants.flatMap((more) => [decisionText(decision('refused', reason, more), words), decisionText(decision('kept', reason, more), words)])),
    ]
    expect(texts.filter((text) => text.startsWith('no message') || /\bno (?:have|want|node|text|count|of)\b/.test(text))).toEqual([])
  })
  it('tell a discarded statement from one without evictions', () => {
    const victims = [{ task: 'default/etl-2-4', job: 'default/etl-2', queue: 'prod', node: 'n1', plugins: null }]
    expect(decisionText(decision('discarded', 'gangNotReady', { count: 2, of: 3, victims }), words)).toContain('is undone')
    expect(decisionText(decision('discarded', 'gangNotReady', { count: 2, of: 3 }), words)).toBe('2 tasks are ready, and 3 are needed. All are given back.')
    expect(decisionText(decision('allocated', 'idle', { node: 'n1', resource: 'cpu', have: 8, want: 4, count: 1, of: 3 }), words)).toBe('n1: 4 cpu of 8 cpu idle. Held until the gang is ready (1 of 3).')
  })
})

describe('decisions', () => {
  it('look like what they did', () => {
    expect(lookOf(decision('allocated', 'idle', { bound: true })).frame).toBe('yes')
    expect(lookOf(decision('allocated', 'idle')).icon).toBe('pause')
    expect(['pipelined', 'refused', 'skipped', 'discarded', 'committed', 'kept', 'enqueued'].map((kind) => lookOf(decision(kind, '')).icon)).toEqual(['pin', 'x', 'skip', 'reset', 'check', 'clock', 'arrow'])
  })
  it('are about a task, a job or a queue', () => {
    expect(subjectOf(decision('refused', '', { job: 'default/a', task: 'default/a-0', queue: 'q' }))).toBe('a-0')
    expect(subjectOf(decision('discarded', '', { job: 'default/a', queue: 'q' }))).toBe('a')
    expect(subjectOf(decision('skipped', '', { queue: 'q' }))).toBe('q')
    expect(shortOf(undefined)).toBe('')
  })
  it('about a job include those about whole queues', () => {
    const all = [decision('refused', '', { job: 'default/a', task: 'default/a-0' }), decision('skipped', '', { queue: 'q' }), decision('refused', '', { job: 'default/b' })]
    expect(decisionsAbout(all, 'default/a')).toEqual(all.slice(0, 2))
    expect(decisionsAbout(all, '')).toBe(all)
  })
})
