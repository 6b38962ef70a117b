import { describe, expect, it } from 'vitest'
import type { Pod } from '@/api/types'
import { countStates, drain, drainItems, planDrain, retryAfter, type Drainer } from './drain'
import { pod } from '@/kubernetes/testing'

const owned = (name: string, kind: string, status: Pod['status'] = {}): Pod =>
  pod(name, {}, status, { ownerReferences: [{ kind, name: 'o', controller: true }] })
const names = (pods: readonly Pod[]) => pods.map((p) => p.metadata.name)

describe('the plan of a drain', () => {
  it('leaves out pods of DaemonSets and terminating pods', () => {
    const plan = planDrain([
      owned('web', 'ReplicaSet'),
      owned('agent', 'DaemonSet'),
      owned('ended', 'DaemonSet', { phase: 'Failed' }),
      pod('alone'),
      pod('going', {}, {}, { deletionTimestamp: '2026-11-20T08:00:00Z' }),
      pod('mirror', {}, {}, { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    ])
    expect({ evict: names(plan.evict), daemons: names(plan.daemons), unmanaged: plan.unmanaged }).toEqual({
      evict: ['web', 'ended', 'alone'],
      daemons: ['agent'],
      unmanaged: 1,
    })
  })
})

/** Records all calls; `answers` are the results of evictions by pod, in order. */
function drainer(answers: Record<string, ('evicted' | 'refused' | 'gone' | Error)[]> = {}) {
  const said: string[] = []
  const fake: Drainer = {
    cordon: (node) => (said.push(`cordon ${node}`), Promise.resolve()),
    evict: (p) => {
      const answer = answers[p.metadata.name]?.shift() ?? 'evicted'
      said.push(`evict ${p.metadata.name}: ${answer instanceof Error ? 'error' : answer}`)
      if (answer instanceof Error) return Promise.reject(answer)
      return Promise.resolve(
        answer === 'refused' ? { kind: 'refused', message: 'needs 2 healthy pods' } : { kind: answer }
      )
    },
    pause: (ms) => (said.push(`pause ${ms}`), Promise.resolve()),
  }
  return { fake, said }
}
const run = (items: ReturnType<typeof drainItems>, fake: Drainer, signal = new AbortController().signal) =>
  drain(['n1'], items, fake, { progress: () => {}, signal })

describe('a drain', () => {
  it('cordons first, and retries evictions that a budget refused', async () => {
    const items = drainItems(planDrain([pod('a'), pod('b')]))
    const { fake, said } = drainer({ a: ['refused', 'refused', 'evicted'] })
    await run(items, fake)
    expect(said).toEqual([
      'cordon n1',
      'evict a: refused',
      'evict b: evicted',
      `pause ${retryAfter}`,
      'evict a: refused',
      `pause ${retryAfter}`,
      'evict a: evicted',
    ])
    expect(countStates(items)).toEqual({ waiting: 0, evicted: 2, blocked: 0, failed: 0 })
  })
  it('counts pods that are gone as evicted, and does not retry errors', async () => {
    const items = drainItems(planDrain([pod('a'), pod('b')]))
    const { fake } = drainer({ a: ['gone'], b: [new Error('etcd is full')] })
    await run(items, fake)
    expect(items.map((i) => i.state)).toEqual([{ kind: 'evicted' }, { kind: 'failed', message: 'etcd is full' }])
  })
  it('ends with its current results when it is aborted', async () => {
    const items = drainItems(planDrain([pod('a')]))
    const abort = new AbortController()
    const { fake } = drainer({ a: ['refused', 'refused'] })
    await run(items, { ...fake, pause: () => (abort.abort(), Promise.resolve()) }, abort.signal)
    expect(items[0]?.state).toEqual({ kind: 'blocked', message: 'needs 2 healthy pods' })
  })
  it('evicts nothing when a node cannot be cordoned', async () => {
    const { fake, said } = drainer()
    await expect(
      run(drainItems(planDrain([pod('a')])), { ...fake, cordon: () => Promise.reject(new Error('no such node')) })
    ).rejects.toThrow('no such node')
    expect(said).toEqual([])
  })
})
