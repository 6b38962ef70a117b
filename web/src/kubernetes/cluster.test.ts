import { describe, expect, it } from 'vitest'
import { ClusterModel, costOf, priceLabel, scarcest, viewNode, zoneLabel } from './cluster'
import { objectKey } from './object'
import { buildCluster, node, pod, requests } from './testing'

const mapOf = <T extends { metadata: { namespace?: string; name: string } }>(...items: T[]) =>
  new Map(items.map((i) => [objectKey(i), i]))

describe('buildCluster', () => {
  const nodes = mapOf(
    node('n2', { [zoneLabel]: 'b' }),
    node('n10', { [zoneLabel]: 'a' }),
    node('n1', {}, { cpu: '4', memory: '8Gi', pods: '10', 'nvidia.com/gpu': '2' })
  )
  const pods = mapOf(
    pod('one', { ...requests('1'), nodeName: 'n1' }),
    pod('done', { ...requests('2'), nodeName: 'n1' }, { phase: 'Succeeded' }),
    pod('later', requests('1'), {}, { creationTimestamp: '2026-01-01T00:00:02Z' }),
    pod('earlier', requests('1'), {}, { creationTimestamp: '2026-01-01T00:00:01Z' })
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
  it('keeps everything about nodes while only pending pods change', () => {
    model.setPod('default/q', pod('q', requests('1')))
    const later = model.view()
    expect(later.nodes).toBe(after.nodes)
    expect(later.totals).toBe(after.totals)
    model.setPod('default/q', undefined)
  })
  it('has the same view as a model that got only the final state', () => {
    const key = (view: typeof after) => view.nodes.map((n) => [n.name, n.cpu.requested, n.podList.length])
    const pods = mapOf({ ...waiting, spec: { ...waiting.spec, nodeName: 'n2' } })
    expect(key(after)).toEqual(key(buildCluster(mapOf(node('n1'), node('n2')), pods)))
  })
  it('drops deleted objects', () => {
    model.setPod('default/p', undefined)
    model.setNode('n1', undefined)
    expect(model.view()).toMatchObject({ podCount: 0, nodes: [{ name: 'n2', cpu: { requested: 0 } }] })
  })
})

describe('readiness', () => {
  const withStatus = (conditions: { type: string; status: string }[], unschedulable = false) => ({
    metadata: { name: 'n' },
    spec: { unschedulable },
    status: { conditions },
  })
  const ready = { type: 'Ready', status: 'True' }
  it('marks a node only when its Ready condition is not True', () => {
    const marked = (...conditions: { type: string; status: string }[]) =>
      buildCluster(mapOf(withStatus(conditions)), new Map()).nodes[0]?.notReady
    expect([marked(), marked(ready), marked({ type: 'Ready', status: 'False' })]).toEqual([false, false, true])
  })
})

it('the scarcest resource comes first, and one that no node has is left out', () => {
  const meter = (resource: string, requested: number, allocatable: number) => ({
    resource,
    unit: 'count' as const,
    requested,
    allocatable,
  })
  const all = {
    cpu: meter('cpu', 1, 4),
    memory: meter('memory', 0, 0),
    extended: [meter('example.com/card', 1, 8), meter('nvidia.com/gpu', 8, 8)],
  }
  expect(scarcest(all).map((m) => m.resource)).toEqual(['nvidia.com/gpu', 'cpu', 'example.com/card'])
})

describe('what nodes cost', () => {
  const priced = (name: string, price: string | undefined, cpu: string) =>
    viewNode(node(name, price === undefined ? {} : { [priceLabel]: price }, { cpu: '4', memory: '8Gi', pods: '10' }), [
      pod('p', { ...requests(cpu), nodeName: name }),
    ])
  it('sums the prices that are known', () => {
    expect(costOf([priced('a', '1', '3'), priced('b', '2', '1'), priced('c', undefined, '1')])).toEqual({
      price: 3,
      unused: 1.75,
      unpriced: 1,
    })
  })
  it.each([undefined, '', '-1', 'NaN', 'Infinity', 'cheap'])('makes no price of %s', (price) => {
    expect(costOf([priced('a', price, '1')])).toBeUndefined()
  })
})
