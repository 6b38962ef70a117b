// What differs on the map between two states of the cluster: node by node.

import type { Pod } from '@/api/types'
import { compareNames, type ClusterView, type NodeView } from '@/kubernetes/cluster'
import { objectKey } from '@/kubernetes/object'
import { isFinished } from '@/kubernetes/pods'

export interface NodeChange {
  kind: 'same' | 'changed' | 'added' | 'removed'
  /** The node before; undefined if it was added. */
  was: NodeView | undefined
  came: ReadonlySet<string>
  /** The pods that left it. */
  gone: readonly Pod[]
  /** Whether it became ready, or stopped being ready. */
  ready?: 'back' | 'lost'
}

export interface MapChange {
  /** The nodes of both states, by name; one that was removed as it was. */
  nodes: readonly NodeView[]
  byName: ReadonlyMap<string, NodeChange>
}

/** A pod that was created again under its name is another pod. */
const identity = (pod: Pod) => `${objectKey(pod)} ${pod.metadata.uid ?? ''}`
const running = (view: NodeView | undefined) => (view?.podList ?? []).filter((pod) => !isFinished(pod))

export function mapChange(
  before: Pick<ClusterView, 'nodes' | 'byName'>,
  after: Pick<ClusterView, 'nodes' | 'byName'>
): MapChange {
  const removed = before.nodes.filter(({ name }) => !after.byName.has(name))
  const nodes = removed.length ? [...after.nodes, ...removed].sort((a, b) => compareNames(a.name, b.name)) : after.nodes
  return {
    nodes,
    byName: new Map(nodes.map(({ name }) => [name, nodeChange(before.byName.get(name), after.byName.get(name))])),
  }
}

function nodeChange(was: NodeView | undefined, is: NodeView | undefined): NodeChange {
  const [had, has] = [running(was), running(is)]
  const [known, kept] = [new Set(had.map(identity)), new Set(has.map(identity))]
  const came = new Set(has.filter((pod) => !known.has(identity(pod))).map(objectKey))
  const gone = had.filter((pod) => !kept.has(identity(pod)))
  if (!was || !is) return { kind: is ? 'added' : 'removed', was, came, gone }
  const ready = was.notReady === is.notReady ? {} : { ready: is.notReady ? ('lost' as const) : ('back' as const) }
  const same =
    !came.size &&
    !gone.length &&
    was.notReady === is.notReady &&
    was.unschedulable === is.unschedulable &&
    taintText(was) === taintText(is) &&
    allocatable(was) === allocatable(is)
  return { kind: same ? 'same' : 'changed', was, came, gone, ...ready }
}

const taintText = ({ taints }: NodeView) =>
  taints
    .map(({ key, value = '', effect }) => `${key}=${value}:${effect}`)
    .sort()
    .join()
const allocatable = ({ cpu, memory, pods, extended }: NodeView) =>
  [cpu, memory, pods, ...extended].map((meter) => `${meter.resource}=${meter.allocatable}`).join()
