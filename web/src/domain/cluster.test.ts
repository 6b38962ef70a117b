import { describe, expect, it } from 'vitest'
import { arrangeNodes, formatGrouping, groupingLabels, parseGrouping } from './arrange'
import { buildCluster, ClusterModel, zoneLabel } from './cluster'
import { objectKey } from './collection'
import { ownerOf, parseFitError, pendingReason, podRequests, podStatus } from './pods'
import { node, pod, requests } from './testing'

const mapOf = <T extends { metadata: { namespace?: string; name: string } }>(...items: T[]) => new Map(items.map((i) => [objectKey(i), i]))

describe('podRequests', () => {
  const cpu = (spec: Parameters<typeof pod>[1]) => podRequests(pod('p', spec)).get('cpu')
  const c = (cpuText: string, restartPolicy?: string) => ({ name: 'c', resources: { requests: { cpu: cpuText } }, ...(restartPolicy ? { restartPolicy } : {}) })
  it('sums containers and adds overhead', () => {
    expect(cpu({ containers: [c('500m'), c('1')], overhead: { cpu: '250m' } })).toBeCloseTo(1.75)
  })
  it('takes an init container that needs more at its moment', () => {
    expect(cpu({ containers: [c('500m')], initContainers: [c('2')] })).toBe(2)
  })
  it('counts sidecars beside containers and beside later init containers', () => {
    expect(cpu({ containers: [c('500m')], initContainers: [c('250m', 'Always'), c('1')] })).toBeCloseTo(1.25)
    expect(cpu({ containers: [c('2')], initContainers: [c('250m', 'Always'), c('1')] })).toBeCloseTo(2.25)
  })
  it('lets requests of the pod win', () => {
    expect(cpu({ containers: [c('500m')], resources: { requests: { cpu: '3' } } })).toBe(3)
  })
})

describe('buildCluster', () => {
  const nodes = mapOf(node('n2', { [zoneLabel]: 'b' }), node('n10', { [zoneLabel]: 'a' }), node('n1', {}, { cpu: '4', memory: '8Gi', pods: '10', 'nvidia.com/gpu': '2' }))
  const pods = mapOf(
    pod('one', { ...requests('1'), nodeName: 'n1' }),
    pod('done', { ...requests('2'), nodeName: 'n1' }, { phase: 'Succeeded' }),
    pod('later', requests('1'), {}, { creationTimestamp: '2026-01-01T00:00:02Z' }),
    pod('earlier', requests('1'), {}, { creationTimestamp: '2026-01-01T00:00:01Z' }),
  )
  const view = buildCluster(nodes, pods)
  it('sums requests of pods that still run', () => {
    const n1 = view.nodes.find((n) => n.name === 'n1')
    expect(n1?.cpu).toEqual({ resource: 'cpu', unit: 'cpu', requested: 1, allocatable: 4 })
    expect(n1?.pods.requested).toBe(1)
    expect(n1?.extended.map((m) => m.resource)).toEqual(['nvidia.com/gpu'])
  })
  it('orders nodes by number and pending pods by age', () => {
    expect(view.nodes.map((n) => n.name)).toEqual(['n1', 'n2', 'n10'])
    expect(view.pending.map((p) => p.metadata.name)).toEqual(['earlier', 'later'])
  })
  it('groups, filters, sorts', () => {
    const shown = (o: Parameters<typeof arrangeNodes>[1]) => arrangeNodes(view.nodes, o).map((g) => `${g.name || '-'}: ${g.nodes.map((n) => n.name).join(' ')}`)
    expect(shown({ text: '', sort: 'name', grouping: [zoneLabel] })).toEqual(['a: n10', 'b: n2', '-: n1'])
    expect(shown({ text: 'zone=b', sort: 'name', grouping: [] })).toEqual(['-: n2'])
    expect(shown({ text: '', sort: 'cpu', grouping: [] })).toEqual(['-: n1 n2 n10'])
    expect(groupingLabels(view.labels, view.nodes.length)).toEqual([zoneLabel])
  })
})

describe('grouping', () => {
  it('is written in the address and read from it', () => {
    for (const grouping of [[], ['pool'], [zoneLabel, 'pool']] as const) expect(parseGrouping(formatGrouping(grouping))).toEqual(grouping)
  })
})

describe('ClusterModel', () => {
  const model = new ClusterModel()
  for (const name of ['n1', 'n2']) model.setNode(name, node(name))
  const waiting = pod('p', requests('1'))
  model.setPod('default/p', waiting)
  const before = model.view()
  model.setPod('default/p', { ...waiting, spec: { ...waiting.spec, nodeName: 'n2' } })
  const after = model.view()
  it('moves a pod from the pending ones to its node', () => {
    expect(before.pending.map((p) => p.metadata.name)).toEqual(['p'])
    expect(after.pending).toEqual([])
    expect(after.byName.get('n2')?.cpu.requested).toBe(1)
  })
  it('keeps the view of a node that has not changed', () => {
    expect(after.nodes[0]).toBe(before.nodes[0])
    expect(after.nodes[1]).not.toBe(before.nodes[1])
    expect(after.labels).toBe(before.labels)
  })
  it('keeps everything about nodes while only pending pods come and go', () => {
    model.setPod('default/q', pod('q', requests('1')))
    const later = model.view()
    expect(later.nodes).toBe(after.nodes)
    expect(later.totals).toBe(after.totals)
    model.setPod('default/q', undefined)
  })
  it('says the same as a model that was given only the end', () => {
    const key = (view: typeof after) => view.nodes.map((n) => [n.name, n.cpu.requested, n.podList.length])
    const pods = mapOf({ ...waiting, spec: { ...waiting.spec, nodeName: 'n2' } })
    expect(key(after)).toEqual(key(buildCluster(mapOf(node('n1'), node('n2')), pods)))
  })
  it('forgets what is deleted', () => {
    model.setPod('default/p', undefined)
    model.setNode('n1', undefined)
    expect(model.view()).toMatchObject({ podCount: 0, nodes: [{ name: 'n2', cpu: { requested: 0 } }] })
  })
})

describe('pending', () => {
  it('takes the message of the scheduler apart', () => {
    const message = "0/12 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 3 node(s) had untolerated taint(s), 8 Insufficient cpu. preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling."
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
  it('names every reason for having no node', () => {
    const scheduled = (reason: string, message: string) => ({ conditions: [{ type: 'PodScheduled', status: 'False', reason, message }] })
    expect(pendingReason(pod('p')).kind).toBe('untried')
    expect(pendingReason(pod('p', { schedulingGates: [{ name: 'g' }] }))).toEqual({ kind: 'gated', gates: ['g'] })
    expect(pendingReason(pod('p', { schedulerName: 'x' }), ['default-scheduler'])).toEqual({ kind: 'noProfile', scheduler: 'x' })
    expect(pendingReason(pod('p', {}, { nominatedNodeName: 'n' }))).toEqual({ kind: 'nominated', node: 'n' })
    expect(pendingReason(pod('p', {}, scheduled('Unschedulable', '0/1 nodes are available: 1 Insufficient cpu.')))).toMatchObject({ kind: 'unschedulable', nodes: 1, reasons: [{ count: 1, text: 'Insufficient cpu' }] })
    expect(podStatus(pod('p', {}, scheduled('SchedulingGated', '')))).toBe('SchedulingGated')
  })
})

it('lets a Deployment stand for its ReplicaSet', () => {
  const owned = pod('web-7f9c-x', {}, {}, { labels: { 'pod-template-hash': '7f9c' }, ownerReferences: [{ kind: 'ReplicaSet', name: 'web-7f9c', controller: true }] })
  expect(ownerOf(owned)).toMatchObject({ kind: 'Deployment', name: 'web' })
  expect(ownerOf(pod('bare'))).toBeUndefined()
})

describe('readiness', () => {
  const withStatus = (conditions: { type: string; status: string }[], unschedulable = false) => ({ metadata: { name: 'n' }, spec: { unschedulable }, status: { conditions } })
  const ready = { type: 'Ready', status: 'True' }
  it('marks a node only when its Ready condition is not True', () => {
    const marked = (...conditions: { type: string; status: string }[]) => buildCluster(mapOf(withStatus(conditions)), new Map()).nodes[0]?.notReady
    expect([marked(), marked(ready), marked({ type: 'Ready', status: 'False' })]).toEqual([false, false, true])
  })
})
