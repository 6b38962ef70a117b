import { describe, expect, it } from 'vitest'
import type { Node, Pod } from '@/api/types'
import { clusterOf } from '@/kubernetes/cluster'
import { node, pod, requests } from '@/kubernetes/testing'
import { mapChange } from './change'

const on = (name: string, nodeName: string, uid = name) => pod(name, { ...requests('1'), nodeName }, {}, { uid })
const unready = (name: string): Node => ({
  ...node(name),
  status: { ...node(name).status, conditions: [{ type: 'Ready', status: 'False' }] },
})
const change = (before: [Node[], Pod[]], after: [Node[], Pod[]]) => mapChange(clusterOf(...before), clusterOf(...after))

describe('the change of the map', () => {
  it('names the pods that came to a node and those that left it', () => {
    const { byName } = change(
      [
        [node('n1'), node('n2')],
        [on('a', 'n1'), on('b', 'n1')],
      ],
      [
        [node('n1'), node('n2')],
        [on('a', 'n1'), on('b', 'n2')],
      ]
    )
    const of = (name: string) => ({
      kind: byName.get(name)?.kind,
      came: [...(byName.get(name)?.came ?? [])],
      gone: byName.get(name)?.gone.map((p) => p.metadata.name),
    })
    expect([of('n1'), of('n2')]).toEqual([
      { kind: 'changed', came: [], gone: ['b'] },
      { kind: 'changed', came: ['default/b'], gone: [] },
    ])
  })
  it('tells a pod that was created again from the first one', () => {
    const { byName } = change([[node('n1')], [on('a', 'n1', 'old')]], [[node('n1')], [on('a', 'n1', 'new')]])
    expect([[...(byName.get('n1')?.came ?? [])], byName.get('n1')?.gone.length]).toEqual([['default/a'], 1])
  })
  it('keeps removed nodes in their place, and knows new ones', () => {
    const { nodes, byName } = change([[node('n1'), node('n2')], []], [[node('n1'), node('n3')], []])
    expect(nodes.map(({ name }) => [name, byName.get(name)?.kind])).toEqual([
      ['n1', 'same'],
      ['n2', 'removed'],
      ['n3', 'added'],
    ])
  })
  it('notices readiness, cordons, taints and capacity', () => {
    const cordoned: Node = { ...node('cordoned'), spec: { unschedulable: true } }
    const tainted: Node = { ...node('tainted'), spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }
    const names = ['cordoned', 'lost', 'same', 'smaller', 'tainted']
    const { byName } = change(
      [names.map((name) => node(name)), []],
      [[cordoned, unready('lost'), node('same'), node('smaller', {}, { cpu: '1' }), tainted], []]
    )
    expect(names.map((name) => byName.get(name)?.kind)).toEqual(['changed', 'changed', 'same', 'changed', 'changed'])
    expect([byName.get('lost')?.ready, byName.get('same')?.ready]).toEqual(['lost', undefined])
  })
})
