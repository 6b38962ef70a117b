import { describe, expect, it } from 'vitest'
import type { Pod } from '@/api/types'
import { mapChange } from '@/features/cluster/model/change'
import { clusterOf } from '@/kubernetes/cluster'
import { node, pod } from '@/kubernetes/testing'
import { nodeChanges, otherChanges, podChanges } from './whatChanged'

const owned = (name: string, nodeName = ''): Pod =>
  pod(
    name,
    nodeName ? { nodeName } : {},
    {},
    { uid: name, ownerReferences: [{ kind: 'StatefulSet', name: 'web', controller: true }] }
  )
const nodes = ['n1', 'n2'].map((name) => node(name))

describe('what changed', () => {
  it('tells the pods of one owner with one fate in one line', () => {
    const before = clusterOf(nodes, [owned('web-0', 'n1'), pod('old', { nodeName: 'n1' }, {}, { uid: 'old' })])
    const after = clusterOf(nodes, [
      owned('web-0', 'n2'),
      owned('web-1', 'n1'),
      owned('web-2', 'n2'),
      owned('web-3', 'n2'),
      owned('web-4'),
    ])
    expect(
      podChanges(before, after).map(({ name, kind, pods, nodes: on }) => [
        kind,
        name,
        pods.length,
        on.map((n) => `${n.name} × ${n.count}`).join(' '),
      ])
    ).toEqual([
      ['came', 'web', 3, 'n1 × 1 n2 × 2'],
      ['moved', 'web-0', 1, 'n2 × 1'],
      ['waits', 'web-4', 1, ''],
      ['gone', 'old', 1, 'n1 × 1'],
    ])
  })
  it('says that a waiting pod got its node', () => {
    expect(
      podChanges(clusterOf(nodes, [owned('web-0')]), clusterOf(nodes, [owned('web-0', 'n1')])).map(({ kind }) => kind)
    ).toEqual(['came'])
  })
  it('leaves out pods that stayed, and those that had ended', () => {
    const ended = pod('job', { nodeName: 'n1' }, { phase: 'Succeeded' }, { uid: 'job' })
    expect(
      podChanges(clusterOf(nodes, [owned('web-0', 'n1'), ended]), clusterOf(nodes, [owned('web-0', 'n1')]))
    ).toEqual([])
  })
  it('names nodes that came, went, or changed their readiness', () => {
    const lost = { ...node('n1'), status: { conditions: [{ type: 'Ready', status: 'False' }] } }
    expect(nodeChanges(mapChange(clusterOf(nodes, []), clusterOf([lost, node('n3')], [])))).toEqual([
      { name: 'n1', kind: 'lost' },
      { name: 'n2', kind: 'removed' },
      { name: 'n3', kind: 'added' },
    ])
  })
  it('lists objects of other kinds, and changed nodes, with their fields', () => {
    const object = (kind: string, name: string) => ({ apiVersion: 'v1', kind, name })
    const at = { moment: 1, time: '2026-01-01T10:00:00Z' }
    expect(
      otherChanges({
        from: at,
        to: at,
        created: [object('Pod', 'p'), object('Deployment', 'web')],
        deleted: [object('Job', 'etl')],
        changed: [
          { object: object('Node', 'n1'), fields: [{ path: 'spec.unschedulable', to: true }] },
          { object: object('Pod', 'p'), fields: [] },
        ],
        bound: [],
        decisions: { scheduled: 0, unschedulable: 0 },
      }).map(({ object: { kind }, kind: how, paths }) => [how, kind, paths.join()])
    ).toEqual([
      ['created', 'Deployment', ''],
      ['changed', 'Node', 'spec.unschedulable'],
      ['deleted', 'Job', ''],
    ])
  })
})
