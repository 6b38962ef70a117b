// The nodes at the time of a decision, reconstructed from the current ones: pods that were
// placed later are removed, and amounts that a plugin compared come from the scheduler's
// snapshot. Objects that were deleted since then stay missing.

import type { Cycle, Pod, Summary } from '@/api/types'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import { viewNode, type Meter, type NodeView } from '@/kubernetes/cluster'

/** When each pod got its node, by uid, in ms; the results record it exactly. */
export function placementTimes(summaries: readonly Summary[]): ReadonlyMap<string, number> {
  return new Map(
    summaries.flatMap((s) => (s.outcome === 'scheduled' ? [[s.pod.uid, Date.parse(s.startTime)] as const] : []))
  )
}

/**
 * The nodes as in the scheduler's snapshot. The decided pod stays in the list of its node, but its
 * requests do not count.
 */
export function nodesAtDecision(
  nodes: readonly NodeView[],
  cycle: Cycle,
  placed: ReadonlyMap<string, number>
): readonly NodeView[] {
  const moment = Date.parse(cycle.startTime)
  const compared = inUse(cycle)
  return nodes.map((view) => {
    const kept = view.podList.filter((pod) => pod.metadata.uid === cycle.pod.uid || !cameLater(pod, moment, placed))
    const counted = kept.filter((pod) => pod.metadata.uid !== cycle.pod.uid)
    const known = compared.get(view.name)
    if (!known && counted.length === view.podList.length) return view
    const then = viewNode(view.node, counted)
    return {
      ...then,
      podList: kept,
      cpu: withKnown(then.cpu, known),
      memory: withKnown(then.memory, known),
      extended: then.extended.map((meter) => withKnown(meter, known)),
    }
  })
}

/** The names of the nodes that were created after the decision. */
export function addedAfter(cycle: Cycle, nodes: readonly NodeView[]): string[] {
  const moment = Date.parse(cycle.startTime)
  return nodes.flatMap(({ name, node }) => (Date.parse(node.metadata.creationTimestamp ?? '') > moment ? [name] : []))
}

/**
 * The verdicts on the current nodes. A node that was added later has none, whatever the record says
 * about its name.
 */
export function verdictsAtDecision(
  recorded: (node: string) => NodeVerdict,
  added: readonly string[]
): (node: string) => NodeVerdict {
  const later = new Set(added)
  return later.size ? (name) => (later.has(name) ? { kind: 'absent', later: true } : recorded(name)) : recorded
}

function cameLater(pod: Pod, moment: number, placed: ReadonlyMap<string, number>): boolean {
  const exact = placed.get(pod.metadata.uid ?? '')
  if (exact !== undefined) return exact > moment
  // Conditions and creation times have whole seconds: within one second the order is unknown.
  const condition = pod.status?.conditions?.find((c) => c.type === 'PodScheduled' && c.status === 'True')
  const time = Date.parse(condition?.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '')
  return time > moment
}

type Known = ReadonlyMap<string, { requested: number; allocatable: number }>

function inUse(cycle: Cycle): ReadonlyMap<string, Known> {
  const byNode = new Map<string, Known>()
  for (const { node, resources } of cycle.filter?.comparisons ?? []) {
    if (!resources?.length) continue
    byNode.set(
      node,
      new Map(
        resources.map((r) =>
          r.name === 'cpu'
            ? [r.name, { requested: r.inUse / 1000, allocatable: r.allocatable / 1000 }]
            : [r.name, { requested: r.inUse, allocatable: r.allocatable }]
        )
      )
    )
  }
  return byNode
}

const withKnown = (meter: Meter, known: Known | undefined): Meter => ({ ...meter, ...known?.get(meter.resource) })
