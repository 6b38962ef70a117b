import { describe, expect, it } from 'vitest'
import {
  arrangeNodes,
  countNodes,
  formatGrouping,
  groupingLabels,
  groupingsOf,
  keepNodes,
  parseGrouping,
} from './arrange'
import { zoneLabel } from '@/kubernetes/cluster'
import { buildCluster, node, pod, requests } from '@/kubernetes/testing'

describe('arrangeNodes', () => {
  const nodes = [
    node('n2', { [zoneLabel]: 'b' }),
    node('n10', { [zoneLabel]: 'a' }),
    node('n1', {}, { cpu: '4', memory: '8Gi', pods: '10', 'nvidia.com/gpu': '2' }),
  ]
  const view = buildCluster(
    new Map(nodes.map((n) => [n.metadata.name, n])),
    new Map([['default/one', pod('one', { ...requests('1'), nodeName: 'n1' })]])
  )
  it('groups, filters, sorts', () => {
    const shown = (o: Parameters<typeof arrangeNodes>[1]) =>
      arrangeNodes(view.nodes, o).map((g) => `${g.name || '-'}: ${g.nodes.map((n) => n.name).join(' ')}`)
    expect(shown({ text: '', sort: 'name', grouping: [zoneLabel] })).toEqual(['a: n10', 'b: n2', '-: n1'])
    expect(shown({ text: 'zone=b', sort: 'name', grouping: [] })).toEqual(['-: n2'])
    expect(shown({ text: '', sort: 'cpu', grouping: [] })).toEqual(['-: n1 n2 n10'])
    expect(groupingLabels(view.labels, view.nodes.length)).toEqual([zoneLabel])
  })
})

describe('grouping', () => {
  it('converts to the URL and back', () => {
    for (const grouping of [[], ['pool'], [zoneLabel, 'pool']] as const)
      expect(parseGrouping(formatGrouping(grouping))).toEqual(grouping)
  })
  it('offers each label, and the zone divided by the others, pools first', () => {
    expect(groupingsOf([zoneLabel, 'arch', 'pool']).map((g) => formatGrouping(g))).toEqual([
      zoneLabel,
      'arch',
      'pool',
      `${zoneLabel}*pool`,
      `${zoneLabel}*arch`,
    ])
    expect(groupingsOf(['arch'])).toEqual([['arch']])
  })
})

it('leaves out nodes, and groups and parts without any', () => {
  const nodes = [
    node('n1', { zone: 'a', pool: 'x' }),
    node('n2', { zone: 'a', pool: 'y' }),
    node('n3', { zone: 'b', pool: 'x' }),
  ]
  const view = buildCluster(new Map(nodes.map((n) => [n.metadata.name, n])), new Map())
  const groups = arrangeNodes(view.nodes, { text: '', sort: 'name', grouping: ['zone', 'pool'] })
  const kept = keepNodes(groups, (n) => n.name === 'n2')
  expect(kept.map((g) => [g.name, g.parts.map((p) => p.name), g.nodes.map((n) => n.name)])).toEqual([
    ['a', ['y'], ['n2']],
  ])
  expect([countNodes(groups), countNodes(kept)]).toEqual([3, 1])
})
