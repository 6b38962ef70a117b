// The cluster as the map shows it: nodes with what is requested of them, pods by
// node, pending pods, owners. Computed whole from two Maps; the costly part (what a
// pod requests) is kept per object.

import type { Node, Pod, Taint } from '@/api/types'
import { parseQuantity, unitOf, type Unit } from './quantity'
import { isFinished, isPending, ownerOf, podRequests, type Owner } from './pods'
import { objectKey } from './collection'

export const zoneLabel = 'topology.kubernetes.io/zone'

/** One resource of a node. */
export interface Meter {
  resource: string
  unit: Unit
  requested: number
  allocatable: number
}

export interface NodeView {
  name: string
  node: Node
  zone: string
  taints: Taint[]
  /** It has a Ready condition that is not True. Without one nothing is known, and the scheduler does not ask. */
  notReady: boolean
  /** Cordoned. */
  unschedulable: boolean
  cpu: Meter
  memory: Meter
  pods: Meter
  /** Everything else that is allocatable, by name. */
  extended: Meter[]
  /** The pods on it, by key order. */
  podList: Pod[]
}

export interface OwnerView extends Owner {
  count: number
  /** Which of the category colours 1 to 9; 0 is for bare pods and for owners beyond the ninth. */
  colour: number
}

export interface ClusterView {
  nodes: NodeView[]
  /** Pods that need a node, longest waiting first. */
  pending: Pod[]
  owners: OwnerView[]
  colourOf(pod: Pod): number
  podCount: number
  totals: { cpu: Meter; memory: Meter; extended: Meter[] }
}

export function buildCluster(nodes: ReadonlyMap<string, Node>, pods: ReadonlyMap<string, Pod>): ClusterView {
  const byNode = new Map<string, Pod[]>()
  const pending: Pod[] = []
  const owners = new Map<string, OwnerView>()
  for (const pod of pods.values()) {
    const owner = ownerOf(pod)
    if (owner) {
      const known = owners.get(owner.key)
      if (known) known.count++
      else owners.set(owner.key, { ...owner, count: 1, colour: 0 })
    }
    const node = pod.spec?.nodeName
    if (node) {
      const list = byNode.get(node)
      if (list) list.push(pod)
      else byNode.set(node, [pod])
    } else if (isPending(pod)) {
      pending.push(pod)
    }
  }
  pending.sort((a, b) => (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') || objectKey(a).localeCompare(objectKey(b)))

  const ranked = [...owners.values()].sort((a, b) => b.count - a.count || a.key.localeCompare(b.key))
  // A colour follows the owner's name, not its rank, so that it stays while counts change.
  const taken = new Set<number>()
  for (const owner of ranked.slice(0, 9)) {
    let colour = (hash(owner.key) % 9) + 1
    while (taken.has(colour)) colour = (colour % 9) + 1
    taken.add(colour)
    owner.colour = colour
  }

  const views = [...nodes.values()].map((node) => viewNode(node, byNode.get(node.metadata.name) ?? []))
  views.sort((a, b) => compareNames(a.name, b.name))
  return {
    nodes: views,
    pending,
    owners: ranked,
    colourOf: (pod) => {
      const owner = ownerOf(pod)
      return owner ? (owners.get(owner.key)?.colour ?? 0) : 0
    },
    podCount: pods.size,
    totals: sumNodes(views),
  }
}

/** undefined when the node has no Ready condition. */
export function readiness(node: Node): 'Ready' | 'NotReady' | undefined {
  const ready = node.status?.conditions?.find((c) => c.type === 'Ready')
  return ready && (ready.status === 'True' ? 'Ready' : 'NotReady')
}

function viewNode(node: Node, podList: Pod[]): NodeView {
  const allocatable = node.status?.allocatable ?? node.status?.capacity ?? {}
  const requested = new Map<string, number>()
  let count = 0
  for (const pod of podList) {
    if (isFinished(pod)) continue
    count++
    for (const [name, value] of podRequests(pod)) requested.set(name, (requested.get(name) ?? 0) + value)
  }
  const meter = (resource: string): Meter => {
    const value = parseQuantity(allocatable[resource])
    return { resource, unit: unitOf(resource), requested: requested.get(resource) ?? 0, allocatable: Number.isNaN(value) ? 0 : value }
  }
  const extended = Object.keys(allocatable)
    .filter((name) => !['cpu', 'memory', 'pods', 'ephemeral-storage'].includes(name) && !name.startsWith('hugepages-'))
    .sort()
    .map(meter)
  podList.sort((a, b) => compareNames(a.metadata.name, b.metadata.name))
  return {
    name: node.metadata.name,
    node,
    zone: node.metadata.labels?.[zoneLabel] ?? '',
    taints: node.spec?.taints ?? [],
    notReady: readiness(node) === 'NotReady',
    unschedulable: node.spec?.unschedulable ?? false,
    cpu: meter('cpu'),
    memory: meter('memory'),
    pods: { ...meter('pods'), requested: count },
    extended,
    podList,
  }
}

function sumNodes(nodes: NodeView[]): ClusterView['totals'] {
  const zero = (resource: string): Meter => ({ resource, unit: unitOf(resource), requested: 0, allocatable: 0 })
  const cpu = zero('cpu')
  const memory = zero('memory')
  const extended = new Map<string, Meter>()
  const add = (sum: Meter, meter: Meter) => {
    sum.requested += meter.requested
    sum.allocatable += meter.allocatable
  }
  for (const node of nodes) {
    add(cpu, node.cpu)
    add(memory, node.memory)
    for (const meter of node.extended) {
      const sum = extended.get(meter.resource) ?? zero(meter.resource)
      extended.set(meter.resource, sum)
      add(sum, meter)
    }
  }
  return { cpu, memory, extended: [...extended.values()] }
}

export type NodeSort = 'name' | 'cpu' | 'memory' | 'pods'

export interface NodeGroup {
  /** The label's value; empty when nodes are not grouped or do not carry the label. */
  name: string
  nodes: NodeView[]
}

/** Filters by text (name, label, taint), sorts, and groups by a label key ('' for none). */
export function arrangeNodes(nodes: readonly NodeView[], options: { text: string; sort: NodeSort; groupBy: string }): NodeGroup[] {
  const words = options.text.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = words.length ? nodes.filter((node) => words.every((word) => nodeText(node).includes(word))) : [...nodes]
  if (options.sort !== 'name') {
    const key = options.sort
    shown.sort((a, b) => share(b[key]) - share(a[key]) || compareNames(a.name, b.name))
  }
  if (!options.groupBy) return shown.length ? [{ name: '', nodes: shown }] : []
  const groups = new Map<string, NodeView[]>()
  for (const node of shown) {
    const name = node.node.metadata.labels?.[options.groupBy] ?? ''
    const list = groups.get(name)
    if (list) list.push(node)
    else groups.set(name, [node])
  }
  return [...groups].sort(([a], [b]) => Number(a === '') - Number(b === '') || compareNames(a, b)).map(([name, list]) => ({ name, nodes: list }))
}

const textOf = new WeakMap<Node, string>()

function nodeText(view: NodeView): string {
  let text = textOf.get(view.node)
  if (text === undefined) {
    const labels = Object.entries(view.node.metadata.labels ?? {}).map(([k, v]) => `${k}=${v}`)
    const taints = view.taints.map((t) => `${t.key}=${t.value ?? ''}:${t.effect}`)
    text = [view.name, ...labels, ...taints].join(' ').toLowerCase()
    textOf.set(view.node, text)
  }
  return text
}

/** Label keys worth grouping by: more than one value, but few; zone first. */
export function groupingLabels(nodes: readonly NodeView[]): string[] {
  const values = new Map<string, Set<string>>()
  for (const { node } of nodes) {
    for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
      const set = values.get(key) ?? new Set()
      values.set(key, set)
      if (set.size <= 40) set.add(value)
    }
  }
  const few = [...values].filter(([key, set]) => key === zoneLabel || (set.size > 1 && set.size <= 40 && set.size < nodes.length)).map(([key]) => key)
  return few.sort((a, b) => Number(b === zoneLabel) - Number(a === zoneLabel) || a.localeCompare(b))
}

/** Requested ÷ allocatable; 0 where there is nothing to allocate. */
export function share(meter: Meter): number {
  return meter.allocatable > 0 ? meter.requested / meter.allocatable : 0
}

const collator = new Intl.Collator('en', { numeric: true })

/** node-2 before node-10. */
export function compareNames(a: string, b: string): number {
  return collator.compare(a, b)
}

function hash(text: string): number {
  let h = 2166136261
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619)
  return h >>> 0
}
