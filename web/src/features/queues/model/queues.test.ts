import { describe, expect, it } from 'vitest'
import type { QueueQuota } from '@/api/types'
import { barOf } from './queues'
import type { KubeObject } from '@/api/types'
import type { SceneStep } from '@/features/branch/model/demonstration'
import { presetNames, presets } from './presets'
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
  it('says who goes first for having used less', () => {
    const used = { namespace: 'a', name: 'heavy', usage: 2.5000004 }
    const firstUsed = { namespace: 'a', name: 'light', usage: 0, infinite: true }
    expect(reasonText({ kind: 'UsedMore', first: { namespace: 'a', name: 'next' }, used, firstUsed }, t)).toBe(
      'UsedMore {"queue":"heavy","used":"2.5","first":"next","firstQueue":"light","firstUsed":"∞"}'
    )
  })
  it('shows a kind of a newer server by its name', () =>
    expect(reasonText({ kind: 'SomethingNew' }, t)).toBe('SomethingNew'))
})

describe('presets', () => {
  const jobsOf = ({ objects }: SceneStep) =>
    (objects as KubeObject[]).filter(({ kind }) => kind === 'Job').map(({ metadata }) => metadata.name)
  const awaited = ({ until }: SceneStep) =>
    until ? (JSON.parse(until.slice(0, until.indexOf(']') + 1)) as string[]) : []
  it('wait for each job before the next step, and only for jobs that they have created', () => {
    for (const name of presetNames) {
      const steps: readonly SceneStep[] = presets[name]
      steps.forEach((step, i) => {
        expect(steps.slice(0, i + 1).flatMap(jobsOf)).toEqual(expect.arrayContaining(awaited(step)))
        if (i < steps.length - 1) expect(awaited(step)).toEqual(expect.arrayContaining(jobsOf(step)))
      })
    }
  })
})
