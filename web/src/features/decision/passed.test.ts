import { beforeAll, describe, expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { lineText, type ComparisonLine } from './model/comparisonLine'
import { passedAt } from './model/passed'
import type { Comparison } from './model/pluginComparison'
import { docsOf } from './model/pluginDocs'
import { sampleCycle } from './model/testing'

type Passes = NonNullable<NonNullable<Cycle['filter']>['passes']>

const cycleWith = (passes: Passes | undefined): Cycle => {
  const sample = sampleCycle()
  return { ...sample, filter: { ...(sample.filter as NonNullable<Cycle['filter']>), ...(passes && { passes }) } }
}
const say = (line: ComparisonLine) => sayIn('en', line)
const sayIn = (locale: 'en' | 'ja', of: ComparisonLine) =>
  lineText(of, (key, values) => i18n.global.t(key, values, { locale }))

/** A comparison of each plugin of Kubernetes that the recorder knows, with what the panel says about it. */
const compared: [plugin: string, comparison: Omit<Comparison, 'node' | 'plugin'>, said: string[]][] = [
  [
    'NodeName',
    { terms: [{ source: 'nodeName', term: 0, key: 'metadata.name', operator: 'In', values: ['b2'], actual: 'b2' }] },
    ['metadata.name In [b2]: met by metadata.name=b2'],
  ],
  [
    'NodeUnschedulable',
    {
      tolerated: [
        {
          key: 'node.kubernetes.io/unschedulable',
          effect: 'NoSchedule',
          by: { key: 'node.kubernetes.io/unschedulable', operator: 'Exists' },
        },
      ],
    },
    ['Taint node.kubernetes.io/unschedulable:NoSchedule: tolerated by node.kubernetes.io/unschedulable op=Exists'],
  ],
  [
    'TaintToleration',
    {
      tolerated: [
        {
          key: 'team',
          value: 'blue',
          effect: 'NoSchedule',
          by: { key: 'team', operator: 'Equal', value: 'blue', effect: 'NoSchedule' },
        },
        { key: 'gpu', effect: 'NoExecute', by: { key: '', operator: 'Exists' } },
      ],
    },
    [
      'Taint team=blue:NoSchedule: tolerated by team=blue:NoSchedule op=Equal',
      'Taint gpu:NoExecute: tolerated by op=Exists',
    ],
  ],
  [
    'NodeAffinity',
    {
      terms: [
        { source: 'nodeSelector', term: 0, key: 'disk', operator: 'In', values: ['ssd'], actual: 'ssd' },
        { source: 'nodeAffinity', term: 0, key: 'old', operator: 'DoesNotExist', actual: null },
      ],
    },
    ['disk In [ssd]: met by disk=ssd', 'old DoesNotExist: met, because the node has no label old'],
  ],
  [
    'NodePorts',
    {
      ports: [
        { protocol: 'TCP', hostIP: '', port: 8081 },
        { protocol: 'UDP', hostIP: '10.0.0.1', port: 53 },
      ],
    },
    ['Host port 8081/TCP: free', 'Host port 10.0.0.1:53/UDP: free'],
  ],
  ['VolumeRestrictions', { volumes: [{ volume: 'data', claim: 'once' }] }, ['once: not in use by another pod']],
  [
    'NodeVolumeLimits',
    {
      limits: [
        { driver: 'ebs.csi', inUse: 3, requested: 2, limit: 25 },
        { driver: 'nfs.csi', inUse: 0, requested: 1, limit: null },
      ],
    },
    [
      'ebs.csi: volumes attached 3 + 2 for this pod = 5; the limit is 25',
      'nfs.csi: volumes of this pod 1; the driver names no limit for the node',
    ],
  ],
  [
    'VolumeBinding',
    {
      claims: [
        { claim: 'a', storageClass: 'fast', requested: 1 << 30, provisionable: false, volume: 'pv-1', bound: true },
        { claim: 'b', storageClass: 'fast', requested: 1 << 30, provisionable: false, volume: 'pv-2' },
        { claim: 'c', storageClass: 'fast', requested: 1 << 30, provisionable: true },
        { claim: 'd', storageClass: 'fast', requested: 1 << 30, provisionable: true, largest: 5 * (1 << 30) },
      ],
      terms: [
        {
          source: 'volume',
          volume: 'pv-1',
          claim: 'a',
          term: 0,
          key: 'zone',
          operator: 'In',
          values: ['x'],
          actual: 'x',
        },
      ],
    },
    [
      'zone In [x]: met by zone=x',
      'Claim a: bound to pv-1, which the node can reach',
      'Claim b, 1 Gi: can be bound to pv-2',
      'Claim c, 1 Gi: storage class fast can provision a volume',
      'Claim d, 1 Gi: storage class fast can provision a volume of up to 5 Gi',
    ],
  ],
  [
    'VolumeZone',
    {
      terms: [
        {
          source: 'volume',
          volume: 'pv',
          claim: 'a',
          term: 0,
          key: 'topology.kubernetes.io/zone',
          operator: 'In',
          values: ['x', 'y'],
          actual: 'y',
        },
      ],
    },
    ['topology.kubernetes.io/zone In [x, y]: met by topology.kubernetes.io/zone=y'],
  ],
  [
    'PodTopologySpread',
    { spread: [{ topologyKey: 'zone', domain: 'x', matching: 2, minimum: 2, maximum: 3, self: 1, maxSkew: 1 }] },
    ['Matching pods in zone=x: 2 + 1 for this pod − the minimum 2 = 1; maxSkew is 1'],
  ],
  [
    'InterPodAffinity',
    {
      podTerms: [
        {
          rule: 'affinity',
          topologyKey: 'zone',
          domain: 'x',
          selector: 'app=db',
          pods: 4,
          namespaces: ['shop'],
          namespaceCount: 1,
        },
        { rule: 'affinity', topologyKey: 'zone', domain: 'x', selector: 'app=me', first: true },
        { rule: 'affinity', topologyKey: 'zone', domain: 'x', selector: 'app=me', first: true, noneMatches: true },
        {
          rule: 'affinity',
          topologyKey: 'zone',
          domain: 'x',
          selector: 'app=me',
          first: true,
          terms: 1,
          match: { pod: { namespace: 'shop', name: 'first', uid: 'u' }, node: 'bare', domain: null, all: true },
        },
        {
          rule: 'affinity',
          topologyKey: 'zone',
          domain: 'x',
          selector: 'app=me',
          first: true,
          terms: 2,
          match: { pod: { namespace: 'shop', name: 'half', uid: 'u' }, node: 'b3', domain: 'y' },
        },
        { rule: 'antiAffinity', topologyKey: 'host', domain: 'b2', selector: 'app=web', namespaceSelector: 'team=y' },
        { rule: 'antiAffinity', topologyKey: 'rack', domain: null, selector: 'app=web' },
        { rule: 'existingAntiAffinity', topologyKey: 'host', domain: 'b2', selector: '' },
      ],
    },
    [
      'Affinity to app=db (namespace shop): pods in zone=x that match: 4',
      'Affinity to app=me: no pod that counts matches, and this pod does, so it may be the first in zone=x',
      'Affinity to app=me: no pod on any node matches, and this pod does, so it may be the first in zone=x',
      'Affinity to app=me: shop/first matches, but bare has no label zone, so it does not count. ' +
        'This pod matches, too, so it may be the first in zone=x',
      'Affinity to app=me: shop/half on b3 matches, but no pod that counts matches all 2 terms. ' +
        'This pod does, so it may be the first in zone=x',
      'Anti-affinity to app=web (namespaces with team=y): no pod in host=b2 matches',
      'Anti-affinity to app=web: the node has no label rack, so it shares no domain with any pod',
      'Anti-affinity of running pods: no pod in host=b2 keeps this pod away',
    ],
  ],
  [
    'DynamicResources',
    {
      devices: [
        {
          claim: 'gpus',
          request: 'one',
          deviceClass: 'gpu',
          count: 1,
          matching: 4,
          matchingInUse: 3,
          allocated: [{ request: 'one', driver: 'd', pool: 'p', device: 'gpu-3' }],
        },
        {
          claim: '',
          request: '',
          resource: 'example.com/gpu',
          deviceClass: 'gpu',
          count: 0,
          matching: 2,
          matchingInUse: 0,
          allocated: [
            { request: '', driver: 'd', pool: 'p', device: 'a' },
            { request: '', driver: 'd', pool: 'p', device: 'b' },
          ],
        },
      ],
    },
    [
      'gpus/one: wants 1; matching devices: 4, in use: 3; would get gpu-3',
      'example.com/gpu: wants all that match; matching devices: 2, in use: 0; would get a, b',
    ],
  ],
  [
    'NodeDeclaredFeatures',
    { features: [{ name: 'UserNamespaces', declared: true }] },
    ['UserNamespaces: the node declares it'],
  ],
  [
    'NodeResourceTopologyMatch',
    { aligned: [{ role: 'container', container: 'main', zone: '1' }] },
    ['container main: gets everything from NUMA node 1'],
  ],
]

beforeAll(loadDeferredMessages)

describe('what a plugin compared on a node that it let through', () => {
  it.each(compared)('%s', (plugin, comparison, said) => {
    const passed = passedAt(
      cycleWith({ nodes: ['b1', 'b2'], plugins: [plugin], comparisons: [{ node: 'b2', plugin, ...comparison }] }),
      'b2',
      plugin
    )
    expect(passed.kind === 'kept' && passed.lines.map(say)).toEqual(said)
  })

  it.each(compared)('%s, with the same values in Japanese', (plugin, comparison) => {
    const passed = passedAt(
      cycleWith({ nodes: ['b2'], plugins: [plugin], comparisons: [{ node: 'b2', plugin, ...comparison }] }),
      'b2',
      plugin
    )
    for (const line of passed.kind === 'kept' ? passed.lines : []) {
      const [english, japanese] = [sayIn('en', line), sayIn('ja', line)]
      expect(japanese).not.toBe(english)
      expect(japanese).not.toContain('cellPanel')
      for (const value of Object.values(line.values)
        .filter((of) => typeof of !== 'object')
        .map(String))
        if (english.includes(value)) expect(japanese).toContain(value)
    }
  })

  it('NodeResourcesFit, without the resources that it did not compare on the node', () => {
    const passes: Passes = {
      nodes: ['b1', 'b2'],
      plugins: ['NodeResourcesFit'],
      resources: [
        { name: 'cpu', requested: 1500, inUse: [0, 4200], allocatable: [4000, 16_000] },
        { name: 'example.com/gpu', requested: 1, inUse: [1, 0], allocatable: [8, 0] },
      ],
    }
    const passed = passedAt(cycleWith(passes), 'b2', 'NodeResourcesFit')
    expect(passed.kind === 'kept' && passed.lines.map(say)).toEqual(['cpu: 4.2 in use + 1.5 requested = 5.7 of 16'])
  })

  it('tells apart what was nothing, what is of other nodes, what is unknown, and what is too old', () => {
    const cycle = cycleWith({ nodes: ['b1', 'b2'], plugins: ['TaintToleration'] })
    expect(passedAt(cycle, 'b2', 'TaintToleration')).toEqual({ kind: 'kept', lines: [] })
    expect(passedAt(cycle, 'b9', 'TaintToleration')).toEqual({ kind: 'otherNodes', nodes: 2 })
    expect(passedAt(cycle, 'b2', 'ZoneQuota')).toEqual({ kind: 'unknownPlugin' })
    expect(passedAt(cycleWith(undefined), 'b2', 'TaintToleration')).toEqual({ kind: 'old' })
  })
})

it('has a sentence and a page of documentation for every plugin of Kubernetes in Filter', () => {
  for (const [plugin] of compared.filter(([name]) => name !== 'NodeResourceTopologyMatch')) {
    expect(i18n.global.te(`cellPanel.filter.${plugin}`, 'en'), plugin).toBe(true)
    expect(docsOf(plugin, 'filter'), plugin).toMatch(/^https:\/\/kubernetes\.io\/docs\//)
  }
})
