// How many more of a pod fit, node by node: what is used, what the further pods take, and
// what stops the next one.

import type { CapacityAnswer, PluginNodes } from '@/api/types'
import type { Meter, NodeView } from '@/kubernetes/cluster'
import type { Amounts } from '@/kubernetes/pods'

export interface RoomRow {
  node: NodeView
  /** How many more pods the node takes. */
  count: number
  /**
   * The first plugin that rejects the next pod here; undefined if none does, or if the limit ended
   * the count.
   */
  stop: PluginNodes | undefined
  moreStops: number
}

export interface RoomGroup {
  zone: string
  rows: RoomRow[]
  count: number
}

/**
 * The nodes by zone, in the order of the names. A node that the hypothesis adds is not in the
 * cluster and has no row.
 */
export function roomByZone(nodes: readonly NodeView[], answer: CapacityAnswer): RoomGroup[] {
  const counts = new Map(answer.nodes.map(({ name, count }) => [name, count]))
  const stops = new Map<string, PluginNodes[]>()
  for (const stop of answer.stopped) for (const node of stop.nodes) stops.set(node, [...(stops.get(node) ?? []), stop])
  const groups = new Map<string, RoomGroup>()
  for (const node of nodes) {
    const own = stops.get(node.name) ?? []
    const row = { node, count: counts.get(node.name) ?? 0, stop: own[0], moreStops: Math.max(0, own.length - 1) }
    const group = groups.get(node.zone) ?? { zone: node.zone, rows: [], count: 0 }
    groups.set(node.zone, group)
    group.rows.push(row)
    group.count += row.count
  }
  return [...groups.values()].sort(
    (a, b) => Number(a.zone === '') - Number(b.zone === '') || (a.zone < b.zone ? -1 : 1)
  )
}

/** Pods on nodes that the hypothesis adds. */
export function onNewNodes(nodes: readonly NodeView[], answer: CapacityAnswer): { name: string; count: number }[] {
  const known = new Set(nodes.map((node) => node.name))
  return answer.nodes.filter(({ name }) => !known.has(name))
}

/** The rows that say the most, if there are too many: those that take pods, most first. */
export function mostTelling(groups: readonly RoomGroup[], most: number): { groups: RoomGroup[]; left: number } {
  const all = groups.flatMap((group) => group.rows)
  if (all.length <= most) return { groups: [...groups], left: 0 }
  const shown = new Set([...all].sort((a, b) => b.count - a.count).slice(0, most))
  const kept = groups
    .map((group) => ({ ...group, rows: group.rows.filter((row) => shown.has(row)) }))
    .filter((group) => group.rows.length)
  return { groups: kept, left: all.length - shown.size }
}

export interface GroupStart {
  /**
   * runs: the group has the members that it needs. fits: there is room for what it lacks. waits:
   * there is not, so no member runs.
   */
  kind: 'runs' | 'fits' | 'waits'
  name: string
  minimum: number
  bound: number
  places: number
  groups: number
}

/** What it means for the count that the pods start together; undefined if each starts alone. */
export function startOfGroup({ group }: CapacityAnswer): GroupStart | undefined {
  if (!group || group.minimum < 2) return undefined
  const kind = group.bound >= group.minimum ? 'runs' : group.bound + group.places < group.minimum ? 'waits' : 'fits'
  return { kind, ...group, groups: Math.floor(group.places / group.minimum) }
}

export interface RoomBar {
  /** In percent of what is allocatable. */
  used: number
  /** Of one further pod. */
  each: number
  full: boolean
}

/** A node's bar for a resource; undefined if the node does not have it. */
export function roomBar({ requested, allocatable }: Meter, ask: Amounts, resource: string): RoomBar | undefined {
  if (allocatable <= 0) return undefined
  const percent = (value: number) => Math.min(100, Math.max(0, (value / allocatable) * 100))
  return { used: percent(requested), each: percent(ask.get(resource) ?? 0), full: requested >= allocatable * 0.9999 }
}

/** One line per plugin, with the reasons and nodes of all its rejections; most nodes first. */
export function stopsByPlugin(
  stopped: readonly PluginNodes[]
): { plugin: string; nodes: string[]; reasons: string[] }[] {
  const out = new Map<string, { plugin: string; nodes: string[]; reasons: string[] }>()
  for (const { plugin, reason, nodes } of stopped) {
    const one = out.get(plugin) ?? { plugin, nodes: [], reasons: [] }
    out.set(plugin, one)
    if (!one.reasons.includes(reason)) one.reasons.push(reason)
    for (const node of nodes) if (!one.nodes.includes(node)) one.nodes.push(node)
  }
  return [...out.values()].sort((a, b) => b.nodes.length - a.nodes.length)
}
