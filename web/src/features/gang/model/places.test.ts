import { describe, expect, it } from 'vitest'
import type { Pod } from '@/api/types'
import { buildCluster, node, requests } from '@/kubernetes/testing'
import { podRequests } from '@/kubernetes/pods'
import { gangsOf, newestByPod, type Gang } from './gangs'
import { excludedIn, placesOf, scarceResource, type Places } from './places'
import { member, waiting } from './testing'

const gpus = (count: string, cpu = '1'): NonNullable<Pod['spec']> => ({
  containers: [{ name: 'c', resources: { requests: { cpu, 'nvidia.com/gpu': count } } }],
})
const machine = (name: string, rack: string) =>
  node(name, { rack }, { cpu: '32', memory: '64Gi', pods: '110', 'nvidia.com/gpu': '8' })
const named = (pods: readonly Pod[]) => new Map(pods.map((pod) => [`ml/${pod.metadata.name}`, pod]))

const members = [
  member('a', { spec: { ...gpus('4'), nodeName: 'n1' } }),
  member('b', { spec: gpus('4') }),
  member('c', { spec: gpus('4') }),
]
const stranger: Pod = { metadata: { namespace: 'ml', name: 's', uid: 's' }, spec: { ...gpus('2'), nodeName: 'n1' } }
const view = buildCluster(
  new Map(['n1', 'n2', 'n3'].map((name, i) => [name, machine(name, i < 2 ? 'r1' : 'r2')])),
  named([...members, stranger])
)
const [gang] = gangsOf(
  { coscheduling: [{ metadata: { namespace: 'ml', name: 'pretrain' }, spec: { minMember: 3 } }], native: [] },
  members,
  newestByPod([waiting('b', 1, 'n2')])
)
const held = [
  { uid: 'b', node: 'n2', requests: podRequests(members[1] as Pod) },
  { uid: 'x', node: 'n3', requests: podRequests({ metadata: { name: 'x' }, spec: gpus('6') }) },
]

describe('placesOf', () => {
  const places = placesOf(gang as Gang, view.nodes, held, 'rack') as Places
  it('shows what members have, what others use or hold, and what is free', () => {
    expect([places.resource, places.request]).toEqual(['nvidia.com/gpu', 4])
    const bars = places.groups.flatMap(({ name, nodes }) =>
      nodes.map((one) => [
        name,
        one.name,
        one.shares.map(({ kind, amount, name: who }) => `${kind} ${amount} ${who}`.trim()),
        one.room,
      ])
    )
    expect(bars).toEqual([
      ['r1', 'n1', ['used 2', 'member 4 a', 'free 2'], 0],
      ['r1', 'n2', ['member 4 b', 'free 4'], 1],
      ['r2', 'n3', ['held 6', 'free 2'], 0],
    ])
    expect(places.groups.map(({ free, members: count }) => [free, count])).toEqual([
      [6, 2],
      [2, 0],
    ])
  })
  it('sums up only nodes on which evictions may make room', () => {
    const of = (node: string, plugin: string, status: string) => ({ node, plugin, status, reasons: [] })
    const excluded = excludedIn({
      filter: {
        reasons: [
          of('n1', 'NodeResourcesFit', 'Unschedulable'),
          of('n2', 'NodeAffinity', 'UnschedulableAndUnresolvable'),
          of('n3', 'TaintToleration', 'UnschedulableAndUnresolvable'),
        ],
      } as never,
    })
    const { groups } = placesOf(gang as Gang, view.nodes, held, 'rack', excluded) as Places
    expect(groups.map(({ free }) => free)).toEqual([2, 0])
    expect(groups.flatMap(({ nodes }) => nodes.map(({ excludedBy }) => excludedBy))).toEqual([
      '',
      'NodeAffinity',
      'TaintToleration',
    ])
  })
  it('leaves out nodes without members first', () => {
    const few = placesOf(gang as Gang, view.nodes, held, '', undefined, 2) as Places
    expect([few.more, few.groups.flatMap(({ nodes }) => nodes.map(({ name }) => name))]).toEqual([1, ['n1', 'n2']])
  })
})

it('finds the resource of which there is room for the fewest members', () => {
  expect(scarceResource(view.nodes, podRequests({ metadata: { name: 'p' }, spec: gpus('1', '16') }))).toBe('cpu')
  expect(scarceResource(view.nodes, podRequests({ metadata: { name: 'p' }, spec: requests('1', '64Gi') }))).toBe(
    'memory'
  )
  expect(scarceResource(view.nodes, new Map())).toBeUndefined()
})
