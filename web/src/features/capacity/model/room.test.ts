import { expect, it } from 'vitest'
import type { CapacityAnswer } from '@/api/types'
import { zoneLabel } from '@/kubernetes/cluster'
import { buildCluster, node, pod, requests } from '@/kubernetes/testing'
import { mostTelling, onNewNodes, roomBar, roomByZone, startOfGroup, stopsByPlugin } from './room'

const nodes = ['a1', 'a2', 'b1'].map((name) => node(name, { [zoneLabel]: `zone-${name[0]}` }))
const running = { ...pod('etl', { nodeName: 'a1', ...requests('6') }), metadata: { namespace: 'shop', name: 'etl' } }
const cluster = buildCluster(
  new Map([...nodes, node('c1')].map((n) => [n.metadata.name, n])),
  new Map([['shop/etl', running]])
)
const answer = {
  fits: 5,
  nodes: [
    { name: 'a2', count: 3 },
    { name: 'extra-1', count: 2 },
  ],
  stopped: [
    { plugin: 'NodeResourcesFit', reason: 'Insufficient cpu', nodes: ['a1', 'a2'] },
    { plugin: 'NodeResourcesFit', reason: 'Insufficient memory', nodes: ['a2'] },
    { plugin: 'TaintToleration', reason: 'untolerated', nodes: ['b1', 'a2', 'a1'] },
  ],
} as unknown as CapacityAnswer

it('lays the answer over the nodes by zone, those without one last', () => {
  const groups = roomByZone(cluster.nodes, answer)
  expect(
    groups.map(({ zone, count, rows }) => [
      zone,
      count,
      rows.map((row) => `${row.node.name} ${row.count} ${row.stop?.plugin ?? '-'}+${row.moreStops}`),
    ])
  ).toEqual([
    ['zone-a', 3, ['a1 0 NodeResourcesFit+1', 'a2 3 NodeResourcesFit+2']],
    ['zone-b', 0, ['b1 0 TaintToleration+0']],
    ['', 0, ['c1 0 -+0']],
  ])
  expect(onNewNodes(cluster.nodes, answer)).toEqual([{ name: 'extra-1', count: 2 }])
})

it('shows the most telling nodes when there are too many', () => {
  const { groups, left } = mostTelling(roomByZone(cluster.nodes, answer), 1)
  expect([groups.map((g) => g.rows.map((r) => r.node.name)), left]).toEqual([[['a2']], 3])
})

it('draws what is used and what one pod takes', () => {
  const [a1] = cluster.nodes
  expect(roomBar(a1?.cpu as never, new Map([['cpu', 2]]), 'cpu')).toEqual({ used: 75, each: 25, full: false })
  expect(roomBar({ resource: 'gpu', unit: 'count', requested: 0, allocatable: 0 }, new Map(), 'gpu')).toBeUndefined()
})

it('takes the rejections of a plugin together', () => {
  expect(stopsByPlugin(answer.stopped)).toEqual([
    { plugin: 'TaintToleration', nodes: ['b1', 'a2', 'a1'], reasons: ['untolerated'] },
    { plugin: 'NodeResourcesFit', nodes: ['a1', 'a2'], reasons: ['Insufficient cpu', 'Insufficient memory'] },
  ])
})

it('says whether a group starts', () => {
  const start = (group?: CapacityAnswer['group']) => {
    const of = startOfGroup({ ...answer, ...(group && { group }) })
    return of && [of.kind, of.groups]
  }
  expect(start()).toBeUndefined()
  expect(start({ name: 'train', minimum: 1, bound: 0, places: 5 })).toBeUndefined()
  expect(start({ name: 'train', minimum: 3, bound: 0, places: 7 })).toEqual(['fits', 2])
  expect(start({ name: 'train', minimum: 3, bound: 3, places: 2 })).toEqual(['runs', 0])
  expect(start({ name: 'train', minimum: 9, bound: 1, places: 7 })).toEqual(['waits', 0])
})
