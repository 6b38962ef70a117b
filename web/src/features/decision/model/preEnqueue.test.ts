import { describe, expect, it } from 'vitest'
import { holdersOf } from './preEnqueue'
import { pod } from '@/kubernetes/testing'

const answer = (plugin: string, ...reasons: string[]) => ({
  plugin,
  status: 'UnschedulableAndUnresolvable' as const,
  reasons,
  durationSeconds: 0,
})

describe('holdersOf', () => {
  it('finds gates in the pod, each by name', () => {
    const gated = pod('p', { schedulingGates: [{ name: 'example.com/a' }, { name: 'example.com/b' }] })
    const lift = { kind: 'gates', gates: ['example.com/a', 'example.com/b'] }
    expect(holdersOf(gated, [])).toEqual([{ plugin: 'SchedulingGates', reasons: [], lift }])
    expect(holdersOf(gated, [answer('SchedulingGates', 'waiting for scheduling gates')])).toEqual([
      { plugin: 'SchedulingGates', reasons: ['waiting for scheduling gates'], lift },
    ])
  })
  it('knows what releases pods that Kubernetes’ other plugins hold', () => {
    const of = (plugin: string, spec: Parameters<typeof pod>[1] = {}) =>
      holdersOf(pod('p', spec), [answer(plugin, 'why')]).map((h) => h.lift)
    expect(of('GangScheduling', { schedulingGroup: { podGroupName: 'ring' } })).toEqual([
      { kind: 'group', group: 'ring' },
    ])
    expect(
      of('DynamicResources', { resourceClaims: [{ name: 'gpu' }, { name: 'nic', resourceClaimName: 'shared' }] })
    ).toEqual([{ kind: 'claims', claims: ['gpu', 'shared'] }])
    expect(of('DefaultPreemption')).toEqual([{ kind: 'victims' }])
    expect(of('MyPlugin')).toEqual([{ kind: 'event' }])
  })
  it('is empty for a pod that no plugin holds', () => {
    expect(holdersOf(pod('p'), [])).toEqual([])
  })
})
