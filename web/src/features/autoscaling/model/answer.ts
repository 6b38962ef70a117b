// What the page Autoscaling makes of an answer.

import type {
  AutoscaleAnswer,
  AutoscaleDeparture,
  AutoscaleMove,
  AutoscaleNewNode,
  AutoscaleOffer,
  AutoscaleOutcome,
  AutoscalePod,
  AutoscalePool,
  AutoscaleRefusal,
  AutoscaleTypeGroup,
  KubeObject,
  Node,
} from '@/api/types'
import { parseQuantity } from '@/kubernetes/quantity'

export const podKey = ({ namespace, name }: Pick<AutoscalePod, 'namespace' | 'name'>): string => `${namespace}/${name}`

/** The namespace default goes without saying. */
export const podName = (key: string): string => key.replace(/^default\//, '')

export const withVerdict = ({ pods }: Pick<AutoscaleAnswer, 'pods'>, verdict: AutoscalePod['verdict']) =>
  pods.filter((pod) => pod.verdict === verdict)

/** Instance types that lack the same. */
export interface Lack {
  lack: AutoscaleTypeGroup['lack']
  names: string[]
  count: number
  examples: string[]
  /** The server's own words, in English. */
  said: string[]
}

/** The groups of types as those of what they lack, most of them first. */
export function lacksOf(groups: readonly AutoscaleTypeGroup[] = []): Lack[] {
  const found = new Map<string, Lack>()
  for (const { lack, count, examples, reason, ...group } of groups) {
    // The server answers null where it names nothing.
    const names = (group.names as string[] | null) ?? []
    const key = [lack, ...names].join(' ')
    const known = found.get(key) ?? { lack, names, count: 0, examples: [], said: [] }
    found.set(key, {
      ...known,
      count: known.count + count,
      examples: [...known.examples, ...examples],
      said: [...known.said, `${count} ${reason}`],
    })
  }
  return [...found.values()].sort((a, b) => b.count - a.count)
}

/**
 * The NodePools that do not help a pod. Those that no pod could use are shown with the NodePools
 * themselves, unless there are no others.
 */
export function refusalsOf({ refused = [] }: AutoscalePod, pools: readonly AutoscalePool[]): AutoscaleRefusal[] {
  const untried = new Set(pools.filter((pool) => pool.untried).map(({ name }) => name))
  const tried = refused.filter(({ nodePool }) => !untried.has(nodePool))
  return tried.length ? tried : refused
}

/** Pods that get no node for the same reasons, such as the replicas of a workload. */
export interface Alike {
  pods: AutoscalePod[]
  refused: AutoscaleRefusal[]
}

/** The pods by their reasons, in the order of the first of each. `first` is the key of a pod that comes first among its like. */
export function alikeOf(pods: readonly AutoscalePod[], pools: readonly AutoscalePool[], first: string): Alike[] {
  const found = new Map<string, Alike>()
  for (const pod of pods) {
    const key = JSON.stringify([pod.kind, pod.reason, pod.refused])
    const known = found.get(key)
    if (!known) found.set(key, { pods: [pod], refused: refusalsOf(pod, pools) })
    else if (podKey(pod) === first) known.pods.unshift(pod)
    else known.pods.push(pod)
  }
  return [...found.values()]
}

export interface Limit {
  resource: string
  uses: number
  /** What the new nodes add. */
  adds: number
  limit: number
}

/** The limits of a NodePool, as Karpenter counts: by the capacity of nodes. */
export function limitsOf(pool: AutoscalePool, newNodes: readonly AutoscaleNewNode[]): Limit[] {
  const own = newNodes.filter(({ nodePool }) => nodePool === pool.name)
  return Object.entries(pool.limits ?? {})
    .sort()
    .map(([resource, limit]) => ({
      resource,
      uses: parseQuantity(pool.uses?.[resource]),
      adds: own.reduce((sum, node) => sum + capacityOf(node, resource), 0),
      limit: parseQuantity(limit),
    }))
}

function capacityOf({ object }: AutoscaleNewNode, resource: string): number {
  if (resource === 'nodes') return 1
  const amount = (object as unknown as Node).status?.capacity?.[resource]
  return amount === undefined ? 0 : parseQuantity(amount)
}

/** Whether a cheaper offer differs in where it is, in how it is bought, or in both. */
export function elsewhere(offer: AutoscaleOffer, from: AutoscaleOffer): 'zone' | 'capacityType' | 'both' {
  if (offer.capacityType === from.capacityType) return 'zone'
  return offer.zone === from.zone ? 'capacityType' : 'both'
}

export type NodeVerdict = 'goes' | 'replaced' | 'blocked' | 'stays'

export function verdictOf({ outcome, blockers = [] }: AutoscaleDeparture): NodeVerdict {
  if (outcome) return outcome.replacement ? 'replaced' : 'goes'
  return blockers.length ? 'blocked' : 'stays'
}

/** What a node saves: at once, or without what blocks it; undefined if it stays all the same. */
export const savingOf = ({ outcome, otherwise }: AutoscaleDeparture): number | undefined =>
  (outcome ?? otherwise)?.savesPerHour

/** The pods that would move. The server answers null for an empty node. */
export const movesOf = ({ moves }: AutoscaleOutcome): readonly AutoscaleMove[] =>
  (moves as AutoscaleMove[] | null | undefined) ?? []

/**
 * Changes whenever one of the objects does that an answer depends on. Nodes and pods are many, so it is
 * not for every frame.
 */
export function stateOf(lists: readonly Iterable<KubeObject>[]): string {
  return lists
    .map((list) => [...list].map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`).join())
    .join(';')
}
