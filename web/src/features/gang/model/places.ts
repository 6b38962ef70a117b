// Where the members of a group are: nodes with what runs there, what waiting pods hold and
// what is free, of the resource of which there is least for the members.

import type { Cycle } from '@/api/types'
import type { NodeView } from '@/kubernetes/cluster'
import { podRequests, type Amounts } from '@/kubernetes/pods'
import type { Gang, Member } from './gangs'

export interface Share {
  /** used: other pods that run. member: of this group. held: pods of other groups that wait at Permit. */
  kind: 'used' | 'member' | 'held' | 'free'
  amount: number
  /** The member; ''. */
  name: string
  state: Member['state'] | undefined
}

export interface PlaceNode {
  name: string
  shares: readonly Share[]
  allocatable: number
  free: number
  tainted: boolean
  /** The plugin that keeps the group's pod off the node, whichever pods run there; ''. */
  excludedBy: string
  /** How many members of this request the free amount is enough for. */
  room: number
}

export interface PlaceGroup {
  /** The value of the label; '' for nodes without it. */
  name: string
  nodes: readonly PlaceNode[]
  /** On nodes that are not excluded. */
  free: number
  members: number
}

export interface Places {
  resource: string
  /** What a member requests of it: the largest of them. */
  request: number
  groups: readonly PlaceGroup[]
  /** Nodes that are left out. */
  more: number
}

/** A pod that waits at Permit with its node: the API server does not know where it is. */
export interface Held {
  uid: string
  node: string
  requests: Amounts
}

/**
 * The resource of which the nodes have room for the fewest members: an extended one, or cpu or
 * memory. undefined if members request nothing.
 */
export function scarceResource(nodes: readonly NodeView[], request: Amounts): string | undefined {
  let found: string | undefined
  let least = Infinity
  for (const [resource, amount] of request) {
    if (amount <= 0 || resource === 'ephemeral-storage') continue
    const room = nodes.reduce((sum, node) => sum + Math.floor(allocatableOf(node, resource) / amount), 0)
    if (room < least) [found, least] = [resource, room]
  }
  return found
}

const meters = (node: NodeView) => [node.cpu, node.memory, ...node.extended]
const meterOf = (node: NodeView, resource: string) => meters(node).find((meter) => meter.resource === resource)
const allocatableOf = (node: NodeView, resource: string) => meterOf(node, resource)?.allocatable ?? 0

/** The nodes on which no eviction would make room for a pod, with the plugin that said so. */
export const excludedIn = (cycle: Pick<Cycle, 'filter'> | undefined): ReadonlyMap<string, string> =>
  new Map(
    (cycle?.filter?.reasons ?? [])
      .filter(({ status }) => status === 'UnschedulableAndUnresolvable')
      .map(({ node, plugin }) => [node, plugin])
  )

/**
 * Nodes grouped by a label, those that hold members or have the most room first if there are more
 * than `most`.
 */
export function placesOf(
  gang: Gang,
  nodes: readonly NodeView[],
  held: readonly Held[],
  label: string,
  excluded: ReadonlyMap<string, string> = new Map(),
  most = 32
): Places | undefined {
  const request = new Map<string, number>()
  for (const { pod } of gang.members)
    for (const [name, amount] of podRequests(pod)) request.set(name, Math.max(request.get(name) ?? 0, amount))
  const resource = scarceResource(nodes, request)
  if (!resource) return undefined
  const each = request.get(resource) ?? 0
  const own = new Set(gang.members.map(({ pod }) => pod.metadata.uid))
  const byNode = new Map<string, Member[]>()
  for (const member of gang.members)
    if (member.node && member.state !== 'finished')
      byNode.set(member.node, [...(byNode.get(member.node) ?? []), member])
  const heldOn = new Map<string, number>()
  for (const { uid, node, requests } of held)
    if (!own.has(uid)) heldOn.set(node, (heldOn.get(node) ?? 0) + (requests.get(resource) ?? 0))

  const all = nodes
    .map((view) => ({
      view,
      place: {
        ...placeOf(view, resource, each, byNode.get(view.name) ?? [], heldOn.get(view.name) ?? 0),
        excludedBy: excluded.get(view.name) ?? '',
      },
    }))
    .filter(({ place }) => place.allocatable > 0)
  const shown =
    all.length <= most
      ? all
      : [...all].sort((a, b) => holds(b.place) - holds(a.place) || usable(b.place) - usable(a.place)).slice(0, most)
  const kept = new Set(shown.map(({ place }) => place.name))
  const groups = new Map<string, PlaceNode[]>()
  for (const { view, place } of all) {
    if (!kept.has(place.name)) continue
    const value = (label && view.node.metadata.labels?.[label]) || ''
    groups.set(value, [...(groups.get(value) ?? []), place])
  }
  return {
    resource,
    request: each,
    groups: [...groups]
      .sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true }))
      .map(([name, list]) => ({
        name,
        nodes: list,
        free: list.reduce((sum, node) => sum + usable(node), 0),
        members: list.reduce((sum, node) => sum + holds(node), 0),
      })),
    more: all.length - shown.length,
  }
}

const usable = ({ free, excludedBy }: PlaceNode) => (excludedBy ? 0 : free)
const holds = (node: PlaceNode) => node.shares.filter(({ kind }) => kind === 'member').length

function placeOf(
  view: NodeView,
  resource: string,
  each: number,
  members: readonly Member[],
  held: number
): Omit<PlaceNode, 'excludedBy'> {
  const meter = meterOf(view, resource)
  const allocatable = meter?.allocatable ?? 0
  const amounts = members.map((member) => ({ member, amount: podRequests(member.pod).get(resource) ?? 0 }))
  const bound = amounts.filter(({ member }) => member.pod.spec?.nodeName).reduce((sum, { amount }) => sum + amount, 0)
  const used = Math.max(0, (meter?.requested ?? 0) - bound)
  // A simulated member holds nothing.
  const taken = amounts
    .filter(({ member }) => member.state !== 'simulated')
    .reduce((sum, { amount }) => sum + amount, 0)
  const free = Math.max(0, allocatable - used - held - taken)
  const shares: Share[] = [{ kind: 'used', amount: used, name: '', state: undefined }]
  if (held) shares.push({ kind: 'held', amount: held, name: '', state: undefined })
  for (const { member, amount } of amounts)
    shares.push({ kind: 'member', amount, name: member.pod.metadata.name, state: member.state })
  const simulated = amounts
    .filter(({ member }) => member.state === 'simulated')
    .reduce((sum, { amount }) => sum + amount, 0)
  shares.push({ kind: 'free', amount: Math.max(0, free - simulated), name: '', state: undefined })
  return {
    name: view.name,
    shares: shares.filter(({ amount }) => amount > 0),
    allocatable,
    free,
    tainted: view.taints.length > 0 || view.unschedulable,
    room: each ? Math.floor(free / each + 1e-9) : 0,
  }
}
