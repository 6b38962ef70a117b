import { describe, expect, it } from 'vitest'
import { ownerOf, parseFitError, pendingReason, podRequests, podStatus } from './pods'
import { pod } from './testing'

describe('podRequests', () => {
  const cpu = (spec: Parameters<typeof pod>[1]) => podRequests(pod('p', spec)).get('cpu')
  const c = (cpuText: string, restartPolicy?: string) => ({
    name: 'c',
    resources: { requests: { cpu: cpuText } },
    ...(restartPolicy ? { restartPolicy } : {}),
  })
  it('sums containers and adds overhead', () => {
    expect(cpu({ containers: [c('500m'), c('1')], overhead: { cpu: '250m' } })).toBeCloseTo(1.75)
  })
  it('uses the requests of an init container that needs more than the others together', () => {
    expect(cpu({ containers: [c('500m')], initContainers: [c('2')] })).toBe(2)
  })
  it('counts sidecars beside containers and beside later init containers', () => {
    expect(cpu({ containers: [c('500m')], initContainers: [c('250m', 'Always'), c('1')] })).toBeCloseTo(1.25)
    expect(cpu({ containers: [c('2')], initContainers: [c('250m', 'Always'), c('1')] })).toBeCloseTo(2.25)
  })
  it('prefers pod-level requests', () => {
    expect(cpu({ containers: [c('500m')], resources: { requests: { cpu: '3' } } })).toBe(3)
  })
})

describe('pending', () => {
  it('parses the scheduler’s message', () => {
    const message =
      "0/12 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 3 node(s) had untolerated " +
      'taint(s), 8 Insufficient cpu. preemption: 0/12 nodes are available: ' +
      '12 Preemption is not helpful for scheduling.'
    expect(parseFitError(message)).toMatchObject({
      nodes: 12,
      reasons: [
        { count: 8, text: 'Insufficient cpu' },
        { count: 3, text: 'node(s) had untolerated taint(s)' },
        { count: 1, text: "node(s) didn't match Pod's node affinity/selector" },
      ],
    })
    expect(parseFitError('something else').reasons).toEqual([])
  })
  it('names each reason why a pod has no node', () => {
    const scheduled = (reason: string, message: string) => ({
      conditions: [{ type: 'PodScheduled', status: 'False', reason, message }],
    })
    expect(pendingReason(pod('p')).kind).toBe('untried')
    expect(pendingReason(pod('p', { schedulingGates: [{ name: 'g' }] }))).toEqual({ kind: 'gated', gates: ['g'] })
    expect(pendingReason(pod('p', { schedulerName: 'x' }), ['default-scheduler'])).toEqual({
      kind: 'noProfile',
      scheduler: 'x',
    })
    expect(pendingReason(pod('p', {}, { nominatedNodeName: 'n' }))).toEqual({ kind: 'nominated', node: 'n' })
    expect(
      pendingReason(pod('p', {}, scheduled('Unschedulable', '0/1 nodes are available: 1 Insufficient cpu.')))
    ).toMatchObject({ kind: 'unschedulable', nodes: 1, reasons: [{ count: 1, text: 'Insufficient cpu' }] })
    expect(podStatus(pod('p', {}, scheduled('SchedulingGated', '')))).toBe('SchedulingGated')
  })
})

it('uses the Deployment in place of its ReplicaSet', () => {
  const owned = pod(
    'web-7f9c-x',
    {},
    {},
    {
      labels: { 'pod-template-hash': '7f9c' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-7f9c', controller: true }],
    }
  )
  expect(ownerOf(owned)).toMatchObject({ kind: 'Deployment', name: 'web' })
  expect(ownerOf(pod('bare'))).toBeUndefined()
})
