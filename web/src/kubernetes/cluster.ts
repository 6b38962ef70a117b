// The cluster as the map shows it: nodes with their requested resources, pods by node,
// pending pods, owners.

import type { Node, Pod, Taint } from '@/api/types'
import { parseQuantity, unitOf, type Unit } from './quantity'
import { isFinished, isPending, ownerOf, podRequests, type Owner } from './pods'
import { objectKey } from './object'
import { LabelValues } from './labels'
import { OwnerColours } from './ownerColours'

/** An extended resource without its domain, to save space: GPU for nvidia.com/gpu. */
export function shortName(resource: string): string {
  const name = resource.slice(resource.indexOf('/') + 1)
  return name === 'gpu' ? 'GPU' : name
}

/** A resource as a text names it: CPU, memory, GPU. */
export const resourceName = (resource: string): string => (resource === 'cpu' ? 'CPU' : shortName(resource))

export const zoneLabel = 'topology.kubernetes.io/zone'

/** What a node costs, in US dollars an hour; the label of eks-node-viewer and of Karpenter's KWOK provider. */
export const priceLabel = 'eks-node-viewer/instance-price'

/** undefined without a price above 0. */
export function priceOf(node: Node): number | undefined {
  const price = Number(node.metadata.labels?.[priceLabel] || NaN)
  return Number.isFinite(price) && price > 0 ? price : undefined
}

/** What nodes cost in US dollars an hour, and how much of that is for what no pod requests. */
export interface Cost {
  price: number
  unused: number
  /** How many nodes have no price, and are left out. */
  unpriced: number
}

/** A node is in use as much as its most requested resource. undefined if no node has a price. */
export function costOf(nodes: readonly NodeView[]): Cost | undefined {
  const cost = { price: 0, unused: 0, unpriced: 0 }
  for (const view of nodes) {
    const price = priceOf(view.node)
    if (price === undefined) {
      cost.unpriced++
      continue
    }
    const fullest = Math.max(...[view.cpu, view.memory, ...view.extended].map(share))
    cost.price += price
    cost.unused += price * (1 - Math.min(1, fullest))
  }
  return cost.unpriced < nodes.length ? cost : undefined
}

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
  /**
   * It has a Ready condition that is not True. Without a condition its state is unknown, and the
   * scheduler ignores it.
   */
  notReady: boolean
  /** Cordoned. */
  unschedulable: boolean
  cpu: Meter
  memory: Meter
  pods: Meter
  /** All other allocatable resources, by name. */
  extended: Meter[]
  /** Its pods, in key order. */
  podList: Pod[]
}

export interface RankedOwner extends OwnerView {
  /** The namespace, if owners of other namespaces have the same name; otherwise ''. */
  place: string
}

interface OwnerView extends Owner {
  count: number
  /** The category colour, 1 to 9, which never changes; bare pods have 0. */
  colour: number
}

export interface ClusterView {
  /** By name, node-2 before node-10. The same array until a node or one of its pods changes. */
  nodes: readonly NodeView[]
  byName: ReadonlyMap<string, NodeView>
  /** Pods that need a node, longest waiting first. */
  pending: readonly Pod[]
  /** Most pods first. */
  owners: readonly RankedOwner[]
  /** Always the same function. */
  colourOf: (pod: Pod) => number
  podCount: number
  totals: { cpu: Meter; memory: Meter; extended: Meter[] }
  /** How many values each label has on the nodes. The same Map until that changes. */
  labels: ReadonlyMap<string, number>
}

/**
 * Follows two Maps of objects by their changes, so that the cost of a change does not
 * depend on the number of pods. Views are immutable: a node's view is the same object
 * until the node or one of its pods changes.
 */
export class ClusterModel {
  /** `colours` may be shared with earlier models, so that owners keep their colours. */
  constructor(private readonly colours = new OwnerColours()) {}

  private readonly nodes = new Map<string, Node>()
  private readonly pods = new Map<string, Pod>()
  private readonly podsOn = new Map<string, Map<string, Pod>>()
  private readonly pending = new Map<string, Pod>()
  private readonly owners = new Map<string, OwnerView>()
  private readonly views = new Map<string, NodeView>()
  private readonly dirty = new Set<string>()
  private readonly labels = new LabelValues()
  /** undefined when nodes were added or removed. */
  private order: string[] | undefined = []
  private places = new Map<string, number>()
  private ordered: readonly NodeView[] = []
  private totals = sumNodes([])
  private waiting: Pod[] | undefined = []
  private ranked: RankedOwner[] | undefined = []
  private readonly colourOf = (pod: Pod): number => {
    const owner = ownerOf(pod)
    return owner ? this.colours.of(owner.key) : 0
  }

  /** The node with this name has changed, or is gone. */
  setNode(name: string, node: Node | undefined): void {
    const old = this.nodes.get(name)
    if (old === node) return
    if (!node || !old) this.order = undefined
    if (node) this.nodes.set(name, node)
    else this.nodes.delete(name)
    this.labels.change(old?.metadata.labels, node?.metadata.labels)
    this.dirty.add(name)
  }

  /** The pod with this key has changed, or is gone. */
  setPod(key: string, pod: Pod | undefined): void {
    const old = this.pods.get(key)
    if (old === pod) return
    if (old) this.place(key, old, -1)
    if (pod) {
      this.pods.set(key, pod)
      this.place(key, pod, 1)
    } else {
      this.pods.delete(key)
    }
    const [before, after] = [old && ownerOf(old), pod && ownerOf(pod)]
    if (before?.key === after?.key) return
    if (before) this.count(before, -1)
    if (after) this.count(after, 1)
  }

  get pendingCount(): number {
    return this.pending.size
  }

  /** The current state. The cost is that of the changes since the last call, plus a sum over the nodes. */
  view(): ClusterView {
    this.renewNodes()
    this.waiting ??= [...this.pending.values()].sort(byAge)
    this.rankOwners()
    return {
      nodes: this.ordered,
      byName: this.views,
      pending: this.waiting,
      owners: this.ranked ?? [],
      colourOf: this.colourOf,
      podCount: this.pods.size,
      totals: this.totals,
      labels: this.labels.distinct(),
    }
  }

  private renewNodes(): void {
    if (!this.dirty.size) return
    for (const name of this.dirty) {
      const node = this.nodes.get(name)
      if (node) this.views.set(name, viewNode(node, [...(this.podsOn.get(name)?.values() ?? [])]))
      else this.views.delete(name)
    }
    if (this.order) {
      const next = [...this.ordered]
      for (const name of this.dirty) {
        const [at, view] = [this.places.get(name), this.views.get(name)]
        if (at !== undefined && view) next[at] = view
      }
      this.ordered = next
    } else {
      this.order = sortNames([...this.nodes.keys()])
      this.places = new Map(this.order.map((name, at) => [name, at]))
      this.ordered = this.order.flatMap((name) => this.views.get(name) ?? [])
    }
    this.dirty.clear()
    this.totals = sumNodes(this.ordered)
  }

  private place(key: string, pod: Pod, sign: 1 | -1): void {
    const name = pod.spec?.nodeName
    if (name) {
      this.dirty.add(name)
      // Processed on arrival: ten thousand at once, when the page needs a view, would block it.
      if (sign > 0) podRequests(pod)
      const on = this.podsOn.get(name) ?? new Map<string, Pod>()
      if (sign > 0) this.podsOn.set(name, on.set(key, pod))
      else if (on.delete(key) && !on.size) this.podsOn.delete(name)
    } else if (isPending(pod)) {
      if (sign > 0) this.pending.set(key, pod)
      else this.pending.delete(key)
      this.waiting = undefined
    }
  }

  private count(owner: Owner, by: 1 | -1): void {
    const known = this.owners.get(owner.key)
    const count = (known?.count ?? 0) + by
    if (count > 0) this.owners.set(owner.key, { ...owner, count, colour: this.colours.of(owner.key) })
    else this.owners.delete(owner.key)
    this.ranked = undefined
  }

  private rankOwners(): void {
    if (this.ranked) return
    const namespaces = new Map<string, Set<string>>()
    for (const { name, namespace } of this.owners.values())
      namespaces.set(name, (namespaces.get(name) ?? new Set()).add(namespace))
    this.ranked = [...this.owners.values()]
      .map((owner) => ({ ...owner, place: (namespaces.get(owner.name)?.size ?? 0) > 1 ? owner.namespace : '' }))
      .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
  }
}

export function clusterOf(nodes: Iterable<Node>, pods: Iterable<Pod>): ClusterView {
  const model = new ClusterModel()
  for (const node of nodes) model.setNode(node.metadata.name, node)
  for (const pod of pods) model.setPod(objectKey(pod), pod)
  return model.view()
}

const byAge = (a: Pod, b: Pod) => {
  const [older, newer] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  if (older !== newer) return older < newer ? -1 : 1
  return objectKey(a) < objectKey(b) ? -1 : 1
}

/** undefined when the node has no Ready condition. */
export function readiness(node: Node): 'Ready' | 'NotReady' | undefined {
  const ready = node.status?.conditions?.find((c) => c.type === 'Ready')
  return ready && (ready.status === 'True' ? 'Ready' : 'NotReady')
}

/** Resources with their own place in the view, or with none. */
const plain = new Set(['cpu', 'memory', 'pods', 'ephemeral-storage'])

export function viewNode(node: Node, podList: Pod[]): NodeView {
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
    return {
      resource,
      unit: unitOf(resource),
      requested: requested.get(resource) ?? 0,
      allocatable: Number.isNaN(value) ? 0 : value,
    }
  }
  const extended = Object.keys(allocatable)
    .filter((name) => !plain.has(name) && !name.startsWith('hugepages-'))
    .sort()
    .map(meter)
  if (podList.length > 1) podList.sort((a, b) => compareNames(a.metadata.name, b.metadata.name))
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

export function sumNodes(nodes: readonly NodeView[]): ClusterView['totals'] {
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

/** Requested ÷ allocatable; 0 if nothing is allocatable. */
export function share(meter: Meter): number {
  return meter.allocatable > 0 ? meter.requested / meter.allocatable : 0
}

/** The totals that nodes have any of, those with the least room first, in proportion. */
export function scarcest({ cpu, memory, extended }: ClusterView['totals']): Meter[] {
  return [cpu, memory, ...extended].filter((m) => m.allocatable > 0).sort((a, b) => share(b) - share(a))
}

const collator = new Intl.Collator('en', { numeric: true })

/** node-2 before node-10. */
export function compareNames(a: string, b: string): number {
  return collator.compare(a, b)
}

/** Sorts names of Kubernetes objects like compareNames; a collator is too slow for thousands of them. */
export function sortNames(names: string[]): string[] {
  const keyed = names.map((name) => ({ name, key: name.replace(/\d+/g, (digits) => digits.padStart(12, '0')) }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.name < b.name ? -1 : 1))
  return keyed.map(({ name }) => name)
}
