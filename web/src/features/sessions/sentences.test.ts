import { describe, expect, it } from 'vitest'
import type { SessionDecision, SessionJob } from '@/api/types'
import { sessions as en } from './words/en.deferred'
import { whyText } from '@/kubernetes/sessionJob'
import { decisionText, giverText } from './model/session'

const job = (name: string): SessionJob => ({
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
})
const decision = (kind: string, reason: string, more: Partial<SessionDecision> = {}): SessionDecision => ({
  kind,
  reason,
  share: 0,
  ...more,
})

/** The message of a key, found in English. */
const message = (key: string): unknown =>
  key
    .split('.')
    .slice(1)
    .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], en.sessions)
const words = (key: string, named: Record<string, string | number>) =>
  String(message(key) ?? `no message ${key}`).replace(/\{(\w+)\}/g, (_, name: string) =>
    String(named[name] ?? `no ${name}`)
  )

describe('sentences', () => {
  it('say why a job does not run', () => {
    const why = { code: 'room', queue: 'prod', resource: 'cpu', missing: 8, needed: 3, placed: 1 }
    expect(whyText(job('serve-4'), why, words)).toBe(
      'serve-4 does not run: the nodes lack 8 cpu, and 1 of 3 tasks find room.'
    )
    expect(whyText(job('serve-4'), { ...why, code: 'pieces', missing: 0 }, words)).toBe(
      'serve-4 does not run: the idle room is in pieces. 1 of 3 tasks find room.'
    )
    expect(whyText(job('j'), { code: 'tooFewPods', queue: 'q', needed: 2, placed: 1 }, words)).toBe(
      'j does not run: it needs 2 pods, and 1 exist.'
    )
    expect(whyText(job('j'), { code: 'tooFewPods', queue: 'q', needed: 2, placed: 1, role: 'ps' }, words)).toBe(
      'j does not run: it needs 2 pods of the role ps, and 1 exist.'
    )
    expect(giverText({ queue: 'research', amount: 10 }, 'cpu', words)).toBe('queue research, 10 cpu over its share')
    expect(giverText({ queue: 'prod', job: 'default/etl-2', amount: 2 ** 33 }, 'memory', words)).toBe(
      'job etl-2 of lower priority, 8 Gi memory'
    )
  })
  it('have words for every cause and every reason of the server', () => {
    const causes = [
      'noQueue',
      'notInqueue',
      'tooFewPods',
      'overused',
      'queueLimit',
      'waiting',
      'room',
      'pieces',
      'predicates',
      'held',
    ]
    const reasons = [
      'noMinResources',
      'overcommit',
      'queueCapacity',
      'permitted',
      'idle',
      'releasing',
      'noRoom',
      'predicates',
      'overused',
      'queueLimit',
      'gangReady',
      'gangNotReady',
      'gangPipelined',
      'noVictims',
      'tooFewVictims',
      'evicts',
      'oneTask',
      'bestEffort',
      'preemptionNever',
      'victimsLeave',
    ]
    const variants: Partial<SessionDecision>[] = [
      {},
      { bound: true },
      { node: 'n', resource: 'cpu', have: 1, want: 2 },
      { victims: [{ task: 'a/b', job: '', queue: '', node: '', plugins: [] }] },
    ]
    const texts = [
      ...causes.map((code) => whyText(job('j'), { code, queue: 'q', needed: 1, placed: 0 }, words)),
      ...reasons.flatMap((reason) =>
        variants.flatMap((more) => [
          decisionText(decision('refused', reason, more), words),
          decisionText(decision('kept', reason, more), words),
        ])
      ),
    ]
    expect(
      texts.filter((text) => text.startsWith('no message') || /\bno (?:have|want|node|text|count|of)\b/.test(text))
    ).toEqual([])
  })
  it('tell a discarded statement from one without evictions', () => {
    const victims = [{ task: 'default/etl-2-4', job: 'default/etl-2', queue: 'prod', node: 'n1', plugins: null }]
    expect(decisionText(decision('discarded', 'gangNotReady', { count: 2, of: 3, victims }), words)).toContain(
      'is undone'
    )
    expect(decisionText(decision('discarded', 'gangNotReady', { count: 2, of: 3 }), words)).toBe(
      '2 tasks are ready, and 3 are needed. All are given back.'
    )
    expect(
      decisionText(
        decision('allocated', 'idle', { node: 'n1', resource: 'cpu', have: 8, want: 4, count: 1, of: 3 }),
        words
      )
    ).toBe('n1: 4 cpu of 8 cpu idle. Held until the gang is ready (1 of 3).')
  })
})
