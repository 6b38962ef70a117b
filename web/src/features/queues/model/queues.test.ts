import { describe, expect, it } from 'vitest'
import type { QueueQuota } from '@/api/types'
import { barOf } from './queues'
import { isDone, isWorkloadOf, presetNames, presets, type Step } from './presets'
import { reasonText } from './reason'

const quota = (over: Partial<QueueQuota>): QueueQuota => ({
  flavor: 'f',
  resource: 'cpu',
  nominal: 4000,
  used: 0,
  subtree: 4000,
  available: 0,
  potential: 0,
  ...over,
})

describe('a quota bar', () => {
  it('shows what is borrowed beyond the nominal quota', () => {
    const { stretches, marks } = barOf(quota({ used: 6000, borrowed: 2000, borrowingLimit: 4000 }), 8000)
    expect(stretches).toEqual([
      { kind: 'share', from: 0, width: 50 },
      { kind: 'room', from: 50, width: 50 },
      { kind: 'used', from: 0, width: 50 },
      { kind: 'over', from: 50, width: 25 },
    ])
    expect(marks).toEqual([
      { kind: 'share', at: 50 },
      { kind: 'most', at: 100 },
    ])
  })
  it('shows what is lent at the end of the nominal quota', () => {
    expect(barOf(quota({ used: 1000, lent: 2000, lendingLimit: 3000 }), 4000)).toEqual({
      stretches: [
        { kind: 'share', from: 0, width: 100 },
        { kind: 'used', from: 0, width: 25 },
        { kind: 'lent', from: 50, width: 50 },
      ],
      marks: [
        { kind: 'share', at: 100 },
        { kind: 'kept', at: 25 },
      ],
    })
  })
  it('is empty for an empty quota', () => expect(barOf(quota({ nominal: 0 }), 0).stretches).toEqual([]))
})

describe('a reason', () => {
  const t = (key: string, named: Record<string, unknown>) => `${key.split('.').pop()} ${JSON.stringify(named)}`
  it('joins those of flavors, each once', () => {
    const short = { kind: 'ShortOfQuota', flavor: 'f', resource: 'cpu', missing: '2' }
    const set = { podSet: 'main', reasons: [short] }
    expect(reasonText({ kind: 'NoFlavors', podSets: [set, { ...set, podSet: 'other' }] }, t)).toBe(reasonText(short, t))
  })
  it('names workloads', () => {
    expect(reasonText({ kind: 'BehindHead', head: { namespace: 'a', name: 'big' } }, t)).toBe(
      'BehindHead {"kind":"BehindHead","head":"big"}'
    )
    expect(reasonText({ kind: 'EqualRefused', equal: { name: 'twin' }, reason: { kind: 'LostQuota' } }, t)).toContain(
      'twin'
    )
  })
  it('shows a kind of a newer server by its name', () =>
    expect(reasonText({ kind: 'SomethingNew' }, t)).toBe('SomethingNew'))
})

describe('presets', () => {
  const jobsOf = ({ objects }: Step) =>
    objects.filter(({ kind }) => kind.kind === 'Job').map(({ object }) => object.metadata.name)
  it('wait for each job before the next step, and only for jobs that they have created', () => {
    for (const name of presetNames) {
      const steps: readonly Step[] = presets[name]
      steps.forEach((step, i) => {
        const awaited = [...step.admits, ...(step.waits ?? [])]
        expect(steps.slice(0, i + 1).flatMap(jobsOf)).toEqual(expect.arrayContaining(awaited))
        if (i < steps.length - 1) expect(awaited).toEqual(expect.arrayContaining(jobsOf(step)))
      })
    }
  })
  it('go on when workloads hold quota or are pending, as the step says', () => {
    const step = { objects: [], admits: ['running'], waits: ['head'] }
    const at = (name: string) => ({ workload: { namespace: 'default', name: `job-${name}-0a1b2` } })
    const done = (running: string[], pending: string[]) =>
      isDone(step, { running: running.map(at), pending: pending.map(at) } as Parameters<typeof isDone>[1])
    expect(done(['running'], ['head'])).toBe(true)
    expect(done(['running', 'head'], [])).toBe(false)
    expect(done([], ['running', 'head'])).toBe(false)
  })
  it('know the workload of a job', () => {
    expect(isWorkloadOf('job-head-0a1b2', 'head')).toBe(true)
    expect(isWorkloadOf('job-head-2-0a1b2', 'head')).toBe(false)
  })
})
