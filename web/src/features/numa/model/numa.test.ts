import { describe, expect, it } from 'vitest'
import type { Cycle, KubeObject, Pod, Summary } from '@/api/types'
import { cellsOf, stepOf } from './cells'
import { numaNodeOf, numaNodesOf } from './topology'
import { numaDecisions, onlyShort, partsOf, verdictsOf } from './verdicts'

const gi = 2 ** 30
const zone = (n: number, cpu: string, more: object = {}) => ({
  name: `node-${n}`,
  type: 'Node',
  costs: [
    { name: 'node-0', value: n ? 21 : 10 },
    { name: 'node-1', value: n ? 10 : 21 },
  ],
  resources: [
    { name: 'memory', capacity: '16Gi', allocatable: '16Gi', available: '8Gi' },
    { name: 'cpu', capacity: '8', allocatable: '7', available: cpu },
  ],
  ...more,
})
const topology = (name: string, attributes: Record<string, string>, more: object = {}): KubeObject => ({
  metadata: { name },
  attributes: Object.entries(attributes).map(([key, value]) => ({ name: key, value })),
  zones: [zone(1, '3'), zone(0, '2'), { name: 'numa-0', type: 'Node' }, { name: 'node-9', type: 'Socket' }],
  ...more,
})
const single = { topologyManagerPolicy: 'single-numa-node' }

describe('numaNodeOf', () => {
  it('reads the zones that are NUMA nodes, by number', () => {
    const node = numaNodeOf(topology('n1', single))
    expect([node.policy, node.scope, node.zones.map(({ name }) => name)]).toEqual([
      'single-numa-node',
      'container',
      ['node-0', 'node-1'],
    ])
    expect(node.zones[0]?.amounts).toEqual([
      { resource: 'cpu', capacity: 8, allocatable: 7, available: 2 },
      { resource: 'memory', capacity: 16 * gi, allocatable: 16 * gi, available: 8 * gi },
    ])
    expect(node.zones[0]?.costs.get(1)).toBe(21)
  })
  it('lets attributes take precedence over the word, each on its own, and ignores unknown values', () => {
    const word = { topologyPolicies: ['SingleNUMANodePodLevel'] }
    const read = (attributes: Record<string, string>) => {
      const { policy, scope } = numaNodeOf(topology('n', attributes, word))
      return [policy, scope]
    }
    expect([read({}), read({ topologyManagerScope: 'container' }), read({ topologyManagerPolicy: 'strict' })]).toEqual([
      ['single-numa-node', 'pod'],
      ['single-numa-node', 'container'],
      ['single-numa-node', 'pod'],
    ])
    expect(numaNodeOf({ metadata: { name: 'n' } })).toMatchObject({ policy: 'none', zones: [] })
  })
})

describe('verdictsOf', () => {
  const nodes = numaNodesOf([
    topology('n1', single),
    topology('n2', single),
    topology('n3', { topologyManagerPolicy: 'none' }),
    topology('n4', single),
    topology('n5', single),
    topology('n6', single),
  ])
  const cycle = {
    filter: {
      plugins: ['NodeResourcesFit', 'NodeResourceTopologyMatch'],
      nodes: ['n1', 'n2', 'n3', 'n4', 'n6'],
      states: ['PP', 'PR', 'PP', 'RN', 'PR'],
      reasons: [
        { node: 'n2', plugin: 'NodeResourceTopologyMatch', reasons: ['cannot align container'] },
        { node: 'n4', plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'] },
        { node: 'n6', plugin: 'NodeResourceTopologyMatch', reasons: ['invalid node topology data'] },
      ],
      comparisons: [
        {
          node: 'n2',
          plugin: 'NodeResourceTopologyMatch',
          alignment: {
            role: 'container',
            container: 'main',
            zones: [
              { zone: 'node-0', short: [{ resource: 'cpu', requested: 4000, available: 2000 }] },
              { zone: 'node-1', short: [{ resource: 'cpu', requested: 4000, available: 3000 }] },
            ],
          },
        },
      ],
      passes: {
        nodes: ['n1'],
        plugins: [],
        comparisons: [
          {
            node: 'n1',
            plugin: 'NodeResourceTopologyMatch',
            aligned: [{ role: 'container', container: 'main', zone: 'node-1' }],
          },
        ],
      },
    },
  } as unknown as Cycle
  const found = verdictsOf(cycle, nodes)
  it('tells for each node what the plugin said', () => {
    expect([...(found ?? [])].map(([name, { kind }]) => [name, kind])).toEqual([
      ['n1', 'aligned'],
      ['n2', 'rejected'],
      ['n3', 'unchecked'],
      ['n4', 'other'],
      ['n5', 'notEvaluated'],
      ['n6', 'stale'],
    ])
    expect(found?.get('n1')).toMatchObject({ parts: [{ container: 'main', zone: 'node-1' }] })
  })
  it('says that the plugin did not look at the NUMA nodes of a node whose topology it did not know yet', () => {
    const passes = { nodes: ['n1', 'n2'], plugins: ['NodeResourceTopologyMatch'], comparisons: [] }
    const early = {
      filter: { ...cycle.filter, nodes: ['n1', 'n4'], states: ['PP', 'PP'], reasons: [], comparisons: [], passes },
    } as unknown as Cycle
    const kinds = verdictsOf(early, nodes)
    // Nothing is recorded of n4, which was not among the best.
    expect([kinds?.get('n1')?.kind, kinds?.get('n4')?.kind]).toEqual(['unchecked', 'aligned'])
  })
  it('says that no NUMA node limits a pod that is not Guaranteed and asks for CPU and memory only', () => {
    const kindFor = (qosClass: string, requests: Record<string, string>) =>
      verdictsOf(cycle, nodes, {
        metadata: { name: 'p' },
        spec: { containers: [{ name: 'c', resources: { requests } }] },
        status: { qosClass },
      } as unknown as Pod)?.get('n1')?.kind
    expect([
      kindFor('Burstable', { cpu: '8', memory: '1Gi' }),
      kindFor('Burstable', { cpu: '8', 'example.com/gpu': '1' }),
      kindFor('Guaranteed', { cpu: '4' }),
    ]).toEqual(['shared', 'aligned', 'aligned'])
  })
  it('names the resource of which every zone has too little', () => {
    const verdict = found?.get('n2')
    expect(verdict?.kind === 'rejected' && onlyShort(verdict.zones)).toEqual({ resource: 'cpu', requested: 4000 })
    expect(
      onlyShort([
        { zone: 'node-0', short: [{ resource: 'cpu', requested: 1, available: 0, absent: false }] },
        { zone: 'node-1', short: [{ resource: 'gpu', requested: 1, available: 0, absent: true }] },
      ])
    ).toBeUndefined()
  })
  it('is undefined when the plugin did not run', () => {
    expect(
      verdictsOf({ filter: { ...cycle.filter, plugins: ['NodeResourcesFit'] } as Cycle['filter'] & object }, nodes)
    ).toBeUndefined()
    expect(verdictsOf({}, nodes)).toBeUndefined()
  })
})

describe('cellsOf', () => {
  const cpu = { resource: 'cpu', capacity: 16, allocatable: 15, available: 7 }
  const runs = (options: Parameters<typeof cellsOf>[1]) =>
    cellsOf(cpu, options).runs.map(({ kind, cells }) => `${kind} ${cells}`)
  it('lays parts into what is free', () => {
    expect(runs({ laid: [{ part: 1, amount: 6 }] })).toEqual(['system 1', 'taken 8', 'part 6', 'free 1'])
  })
  it('takes the parts of a bound pod out of what is taken', () => {
    expect(runs({ laid: [{ part: 1, amount: 6 }], bound: true })).toEqual(['system 1', 'taken 2', 'part 6', 'free 7'])
  })
  it('shows what a part asks for and what is missing', () => {
    expect(runs({ asks: 10 })).toEqual(['system 1', 'taken 8', 'asks 7', 'short 3'])
  })
  it('gives a cell to every amount above 0, and keeps to steps that can be counted', () => {
    expect(runs({ laid: [{ part: 0, amount: 0.25 }] })).toEqual(['system 1', 'taken 8', 'part 1', 'free 6'])
    expect([
      stepOf('cpu', 16),
      stepOf('cpu', 96),
      stepOf('memory', 64 * gi),
      stepOf('memory', 256 * 2 ** 20),
      stepOf('nvidia.com/gpu', 2),
    ]).toEqual([1, 5, 4 * gi, 16 * 2 ** 20, 1])
  })
})

it('takes a pod apart as the scope says', () => {
  const container = (name: string, cpu: string, more: object = {}) => ({
    name,
    resources: { requests: { cpu } },
    ...more,
  })
  const pod: Pod = {
    metadata: { name: 'p' },
    spec: {
      initContainers: [container('fetch', '2'), container('proxy', '1', { restartPolicy: 'Always' })],
      containers: [container('decode', '4'), container('encode', '6')],
    },
  }
  expect(partsOf(pod, 'container').map(({ role, name, requests }) => [role, name, requests.get('cpu')])).toEqual([
    ['init container', 'fetch', 2],
    ['sidecar container', 'proxy', 1],
    ['container', 'decode', 4],
    ['container', 'encode', 6],
  ])
  expect(partsOf(pod, 'pod').map(({ role, requests }) => [role, requests.get('cpu')])).toEqual([['pod', 11]])
})

it('lists the pods that the plugin kept off a node, and those on nodes with NUMA nodes', () => {
  const attempt = (name: string, more: Partial<Summary>) =>
    ({ pod: { namespace: 'd', name, uid: name }, attempt: 1, ...more }) as Summary
  const refusal = (plugin: string, further?: string) =>
    ({
      extensionPoint: 'filter',
      plugin,
      ...(further ? { further: [{ plugin: further }] } : {}),
    }) as Summary['refusal'] & object
  const found = numaDecisions(
    [
      attempt('a', { selectedNode: 'n1' }),
      attempt('b', { selectedNode: 'other' }),
      attempt('c', { refusal: refusal('NodeAffinity', 'NodeResourceTopologyMatch') }),
      attempt('d', { refusal: refusal('NodeAffinity') }),
    ],
    new Set(['n1'])
  )
  expect(found.map(({ pod }) => pod.name)).toEqual(['a', 'c'])
})
