import { describe, expect, it } from 'vitest'
import { arrangeNodes, formatGrouping, groupingLabels, parseGrouping } from './arrange'
import { buildCluster, zoneLabel } from '@/kubernetes/cluster'
import { node, pod, requests } from '@/kubernetes/testing'

describe('arrangeNodes', () => {
  const nodes = [node('n2', { [zoneLabel]: 'b' }), node('n10', { [zoneLabel]: 'a' }), node('n1', {}, { cpu: '4', memory: '8Gi', pods: '10', 'nvidia.com/gpu': '2' })]
  const view = buildCluster(new Map(nodes.map((n) => [n.metadata.name, n])), new Map([['default/one', pod('one', { ...requests('1'), nodeName: 'n1' })]]))
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
