import { describe, expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { countOutcomes, feedRows, filterFeed, firstReason, waitingAtPermit } from './feed'
import { readQueues } from './metrics'
import { condense, factsOf, Rates, Samples } from './rates'

const at = (second: number) => new Date(second * 1000).toISOString()
function summary(name: string, second: number, more: Partial<Summary> = {}): Summary {
  return { pod: { namespace: 'shop', name, uid: name }, attempt: 1, profile: 'default-scheduler', startTime: at(second), durationSeconds: 0.01, outcome: 'scheduled', nodes: { total: 3, evaluated: 3, feasible: 1 }, ...more }
}
const events = (...items: Summary[]) => ({ type: 'events' as const, id: 'results', events: items.map((object) => ({ type: 'ADDED' as const, object })) })

describe('Rates', () => {
  it('counts cycles and bound pods in the second in which they ended', () => {
    const rates = new Rates()
    rates.apply({ type: 'list', id: 'results', items: [summary('b', 101), summary('a', 100)], first: true })
    rates.apply(events(summary('c', 101.995), summary('d', 102, { outcome: 'unschedulable' })))
    expect(rates.series(104, 5)).toEqual({ cycles: [0, 1, 1, 2, 0], bound: [0, 1, 1, 1, 0] })
    expect(rates.from).toBe(0)
  })
  it('counts nothing twice: neither a list after a reconnect, nor a pod that waited', () => {
    const rates = new Rates()
    rates.apply({ type: 'list', id: 'results', items: [summary('a', 100, { outcome: 'waiting' })], first: true })
    rates.apply(events(summary('a', 100, { durationSeconds: 2 })))
    rates.apply({ type: 'list', id: 'results', items: [summary('a', 100, { durationSeconds: 2 })], first: true })
    expect(rates.series(103, 3)).toEqual({ cycles: [1, 0, 0], bound: [0, 0, 1] })
  })
  it('says from when on it has seen everything', () => {
    const rates = new Rates()
    rates.apply({ type: 'list', id: 'results', items: Array.from({ length: 500 }, (_, i) => summary(`p${i}`, 200 + Math.floor(i / 100))), first: true })
    expect(rates.from).toBe(201)
  })
})

describe('Samples', () => {
  it('keeps a value until the next, and knows nothing before the first', () => {
    const samples = new Samples()
    samples.set(11, 5)
    samples.set(13, 7)
    expect(samples.series(15, 5)).toEqual([undefined, 5, 5, 7, 7])
    expect(factsOf(samples.series(15, 5))).toEqual({ mean: 6, peak: 7 })
    expect(condense(samples.series(15, 5), 2)).toEqual([5, 6, 7])
  })
})

describe('the feed', () => {
  const items = [
    summary('new', 3, { revision: 5 }),
    summary('late', 2, { revision: 5, outcome: 'unschedulable', message: '0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. preemption: none.' }),
    summary('room', 1, { revision: 4, outcome: 'unschedulable', nominatedNode: 'n1' }),
  ]
  it('has a line where a new configuration came into force', () => {
    expect(feedRows(items).map((r) => (r.kind === 'cycle' ? r.summary.pod.name : `${r.before} → ${r.now}`))).toEqual(['new', 'late', '4 → 5', 'room'])
  })
  it('tells apart for whom room was made', () => {
    expect(countOutcomes(items)).toMatchObject({ scheduled: 1, unschedulable: 1, preempted: 1 })
    expect(filterFeed(items, { outcome: 'preempted', profile: '', namespace: '', text: '' }).map((s) => s.pod.name)).toEqual(['room'])
    expect(filterFeed(items, { outcome: 'all', profile: '', namespace: 'shop', text: 'taint' }).map((s) => s.pod.name)).toEqual(['late'])
  })
  it('gives the most frequent reason', () => {
    const [, late] = items
    // A record of an earlier version has the scheduler's message only.
    expect(late && firstReason(late)).toEqual({ lead: '', text: 'Insufficient cpu', note: '', nodes: 2, more: 1 })
    const refusal = { extensionPoint: 'filter', plugin: 'NodeResourcesFit', reason: 'Insufficient cpu', nodes: 2, others: 1 }
    expect(late && firstReason({ ...late, refusal })).toEqual({ lead: 'NodeResourcesFit', text: 'Insufficient cpu', note: '', nodes: 2, more: 1 })
    expect(filterFeed([summary('x', 1, { refusal })], { outcome: 'all', profile: '', namespace: '', text: 'resourcesfit' })).toHaveLength(1)
  })
  it('leads with the extension point where a cycle with a node ended or waits', () => {
    const stuck = summary('stuck', 1, { outcome: 'error', message: 'binding volumes: timeout', refusal: { extensionPoint: 'preBind', plugin: 'VolumeBinding', reason: 'timeout' } })
    expect(firstReason(stuck)).toEqual({ lead: 'PreBind', text: 'VolumeBinding', note: 'timeout', nodes: undefined, more: 0 })
    const held = (name: string, plugin: string) => summary(name, 1, { outcome: 'waiting', message: 'one or more plugins asked to wait', refusal: { extensionPoint: 'permit', plugin } })
    expect(firstReason(held('a', 'Gang'))).toEqual({ lead: 'Permit', text: 'Gang', note: '', nodes: undefined, more: 0 })
    expect(waitingAtPermit([held('a', 'Gang'), stuck, held('b', 'Quota'), held('c', 'Quota')])).toEqual({ pods: 3, by: [{ plugin: 'Quota', pods: 2 }, { plugin: 'Gang', pods: 1 }] })
  })
})

describe('readQueues', () => {
  const text = `# HELP scheduler_pending_pods [STABLE] Number of pending pods.
scheduler_pending_pods{queue="active"} 2
scheduler_pending_pods{queue="gated"} 1
scheduler_pending_pods{queue="unschedulable"} 30
scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"} 33
scheduler_queue_incoming_pods_total{event="ScheduleAttemptFailure",queue="unschedulable"} 60
`
  it('reads how many pods are in each queue and what moved them there', () => {
    expect(readQueues(text)?.map((q) => `${q.queue} ${q.pods} ${q.events.map((e) => `${e.event} ${e.count}`).join()}`)).toEqual([
      'active 2 UnscheduledPodAdd 33',
      'backoff 0 ',
      'unschedulable 30 ScheduleAttemptFailure 60',
      'gated 1 ',
    ])
  })
  it('tells where members of pod groups are kept, when some are', () => {
    expect(readQueues(`${text}scheduler_pending_pods{queue="incomplete"} 2\nscheduler_pending_pods{queue="pending"} 0\n`)?.map((q) => q.queue)).toEqual(['active', 'backoff', 'unschedulable', 'gated', 'incomplete'])
  })
  it('knows when there is nothing to read', () => {
    expect(readQueues('go_goroutines 5\n')).toBeUndefined()
  })
})
