// Which nodes the map shows, in which order and in which groups.

import type { Node } from '@/api/types'
import { compareNames, share, zoneLabel, type NodeView } from '@/kubernetes/cluster'

export type NodeSort = 'name' | 'cpu' | 'memory' | 'pods'

export interface NodePart {
  /** The second label's value; empty when the node does not carry it. */
  name: string
  nodes: NodeView[]
}

export interface NodeGroup {
  /** The label's value; empty when nodes are not grouped or lack the label. */
  name: string
  nodes: NodeView[]
  /** The group, divided by the second label; one unnamed part when there is none. */
  parts: NodePart[]
}

/** The labels that group nodes: none, one, or a second within the first. */
export type Grouping = readonly [] | readonly [string] | readonly [string, string]

const by = '*'

/** "zone*pool", as in the URL. */
export function formatGrouping(grouping: Grouping): string {
  return grouping.length ? grouping.join(by) : 'none'
}

export function parseGrouping(text: string): Grouping {
  if (text === 'none' || text === '') return []
  const [first = '', second = ''] = text.split(by)
  return second && second !== first ? [first, second] : [first]
}

/** Filters by text (name, label, taint), sorts and groups. nodes must be sorted by name. */
export function arrangeNodes(
  nodes: readonly NodeView[],
  options: { text: string; sort: NodeSort; grouping: Grouping }
): NodeGroup[] {
  const words = options.text.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = words.length ? nodes.filter((node) => words.every((word) => nodeText(node).includes(word))) : [...nodes]
  if (options.sort !== 'name') {
    const key = options.sort
    // The sort is stable, so equal nodes stay in name order.
    shown.sort((a, b) => share(b[key]) - share(a[key]))
  }
  const [first, second] = options.grouping
  if (!first) return shown.length ? [{ name: '', nodes: shown, parts: [{ name: '', nodes: shown }] }] : []
  return divide(shown, first).map(({ name, nodes: list }) => ({
    name,
    nodes: list,
    parts: second ? divide(list, second) : [{ name: '', nodes: list }],
  }))
}

function divide(nodes: readonly NodeView[], label: string): NodePart[] {
  const parts = new Map<string, NodeView[]>()
  for (const view of nodes) {
    const name = view.node.metadata.labels?.[label] ?? ''
    const list = parts.get(name)
    if (list) list.push(view)
    else parts.set(name, [view])
  }
  return [...parts]
    .sort(([a], [b]) => Number(a === '') - Number(b === '') || compareNames(a, b))
    .map(([name, list]) => ({ name, nodes: list }))
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

const mostValues = 40

/**
 * Label keys worth grouping by: more than one value, but few; zone first. `labels` holds the number
 * of values of each key.
 */
export function groupingLabels(labels: ReadonlyMap<string, number>, nodes: number): string[] {
  const few = [...labels]
    .filter(([key, values]) => key === zoneLabel || (values > 1 && values <= mostValues && values < nodes))
    .map(([key]) => key)
  return few.sort(
    (a, b) =>
      Number(b === zoneLabel) - Number(a === zoneLabel) || Number(isPool(b)) - Number(isPool(a)) || (a < b ? -1 : 1)
  )
}

/** Labels that cloud providers and users put on node pools. */
export function isPool(label: string): boolean {
  return /(^|[/.-])(node-?)?(pool|group)(-name)?$/i.test(label)
}

/** The default grouping: by zone, and with many nodes also by pool within the zone. */
export function defaultGrouping(labels: readonly string[], nodes: number): Grouping {
  const zone = labels.includes(zoneLabel) ? zoneLabel : undefined
  const pool = labels.find(isPool)
  if (!zone) return pool && nodes > 40 ? [pool] : []
  return pool && nodes > 150 ? [zone, pool] : [zone]
}

/** The groupings to choose from: each label, and the zone divided by each other one, pools first. */
export function groupingsOf(labels: readonly string[]): Grouping[] {
  const divided = labels.includes(zoneLabel) ? labels.filter((label) => label !== zoneLabel) : []
  return [
    ...labels.map((label) => [label] as const),
    ...divided.sort((a, b) => Number(isPool(b)) - Number(isPool(a))).map((label) => [zoneLabel, label] as const),
  ]
}

/** The groups with only the nodes that keep returns true for; without empty groups and parts. */
export function keepNodes(groups: readonly NodeGroup[], keep: (node: NodeView) => boolean): NodeGroup[] {
  return groups.flatMap((group) => {
    const parts = group.parts.flatMap((part) => {
      const nodes = part.nodes.filter(keep)
      return nodes.length ? [{ ...part, nodes }] : []
    })
    return parts.length ? [{ ...group, parts, nodes: parts.flatMap((part) => part.nodes) }] : []
  })
}

export function countNodes(groups: readonly NodeGroup[]): number {
  return groups.reduce((sum, group) => sum + group.nodes.length, 0)
}
