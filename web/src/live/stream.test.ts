// The domain model on a recorded watch stream of a simulator: two nodes and a pod are
// listed, changes arrive, the connection is lost and the objects are listed again.

import { describe, expect, it } from 'vitest'
import type { Frame } from '@/api/watch'
import type { Node, Pod, Summary } from '@/api/types'
import { ClusterModel } from '@/kubernetes/cluster'
import { Collection, Recent } from './collection'
import { objectKey, sameVersion } from '@/kubernetes/object'
import { pendingReason } from '@/kubernetes/pods'
import { buildCluster } from '@/kubernetes/testing'
import recorded from './testdata/watch.json'

const frames = recorded as unknown as Frame[]

/** Plays the first `count` frames and asks the model for a view after each, as a page does. */
function play(count = frames.length) {
  const nodes = new Collection<Node>(objectKey, sameVersion)
  const pods = new Collection<Pod>(objectKey, sameVersion)
  const results = new Recent<Summary>((s) => `${s.pod.uid}/${s.attempt}`, 100)
  const model = new ClusterModel()
  const views = frames.slice(0, count).map((frame) => {
    if (frame.id === 'nodes') nodes.apply(frame as Frame<Node>)
    if (frame.id === 'pods') pods.apply(frame as Frame<Pod>)
    if (frame.id === 'results') results.apply(frame as Frame<Summary>)
    for (const name of nodes.takeChanged()) model.setNode(name, nodes.items.get(name))
    for (const key of pods.takeChanged()) model.setPod(key, pods.items.get(key))
    return model.view()
  })
  return { nodes, pods, results, views, last: views.at(-1) }
}
const relisted = frames.findIndex((f, i) => i > 3 && f.type === 'list')

describe('a recorded stream', () => {
  it('ends with the objects that exist at the end', () => {
    const { last } = play()
    expect(last?.nodes.map((n) => `${n.name} ${n.podList.map((p) => p.metadata.name).join(' ')}`)).toEqual([
      'n1 web-3 web-4',
      'n2 ',
    ])
    expect(last?.pending.map((p) => p.metadata.name)).toEqual(['big'])
    expect(last?.pending[0] && pendingReason(last.pending[0])).toMatchObject({ kind: 'unschedulable', nodes: 3 })
  })
  it('has the same view after each frame as a model built from scratch', () => {
    for (let count = 1; count <= frames.length; count++) {
      const { nodes, pods, last } = play(count)
      const whole = buildCluster(nodes.items, pods.items)
      const said = (view: typeof whole | undefined) => ({
        nodes: view?.nodes,
        pending: view?.pending.map(objectKey),
        owners: view?.owners,
        totals: view?.totals,
        podCount: view?.podCount,
      })
      expect(said(last)).toEqual(said(whole))
    }
  })
  it('keeps the views of nodes that did not change while the connection was lost', () => {
    const before = play(relisted).last
    const { views } = play()
    const after = views[relisted]
    expect(before?.nodes.map((n) => n.name)).toEqual(['n1', 'n2', 'n10'])
    expect(after?.nodes.map((n, i) => n === views[relisted - 1]?.nodes[i])).toEqual([true, true, true])
  })
  it('has each cycle once, although a reconnect lists them again', () => {
    const keys = play()
      .results.list()
      .map((s) => `${s.pod.uid}/${s.attempt}`)
    expect(keys.length).toBeGreaterThan(0)
    expect(new Set(keys).size).toBe(keys.length)
  })
})
