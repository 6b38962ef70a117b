// The steps of the tour and their order. Steps that the cluster makes needless are left out:
// no sample for a cluster with nodes, no preemption where the tour may create nothing.

import type { Summary } from '@/api/types'

export const tourSteps = ['sample', 'pod', 'decision', 'filter', 'score', 'preempt', 'preemption', 'more'] as const
export type TourStep = (typeof tourSteps)[number]

export interface TourFacts {
  hasNodes: boolean
  /** A decision with a preemption is known. */
  hasPreemption: boolean
  /** The tour may create objects: the cluster is the simulator's own. */
  mayCreate: boolean
}

/** The steps that apply. */
export function stepsFor({ hasNodes, hasPreemption, mayCreate }: TourFacts): TourStep[] {
  const left: Partial<Record<TourStep, boolean>> = {
    sample: hasNodes || !mayCreate,
    preempt: hasPreemption || !mayCreate,
    preemption: !hasPreemption && !mayCreate,
  }
  return tourSteps.filter((step) => !left[step])
}

/** The step `by` steps further on, or back; undefined after the last one and before the first. */
export function stepFrom(step: TourStep, by: 1 | -1, facts: TourFacts): TourStep | undefined {
  const all = stepsFor(facts)
  if (all.includes(step)) return all[all.indexOf(step) + by]
  // The step no longer applies: the nearest one that does, in this direction.
  const at = tourSteps.indexOf(step)
  const onward = all.filter((other) => (tourSteps.indexOf(other) - at) * by > 0)
  return by > 0 ? onward[0] : onward.at(-1)
}

/**
 * A decision worth reading: the newest with several feasible nodes, otherwise the newest that
 * placed a pod.
 */
export function decisionToRead(newestFirst: readonly Summary[]): Summary | undefined {
  return (
    newestFirst.find((s) => s.outcome === 'scheduled' && s.nodes.feasible > 1) ??
    newestFirst.find((s) => s.outcome === 'scheduled') ??
    newestFirst[0]
  )
}

/** The newest decision that preempted. */
export function preemptionToRead(newestFirst: readonly Summary[]): Summary | undefined {
  return newestFirst.find((s) => s.outcome === 'unschedulable' && !!s.nominatedNode)
}

/**
 * Where the card goes: below, beside or above its target, or in a corner when the target is large
 * or absent.
 */
export function cardPlace(
  target: { left: number; right: number; top: number; bottom: number } | undefined,
  card: { width: number; height: number },
  view: { width: number; height: number }
): { left: number; top: number } {
  const gap = 12
  const corner = { left: Math.max(8, view.width - card.width - 16), top: Math.max(8, view.height - card.height - 16) }
  if (!target || target.bottom < 0 || target.top > view.height || target.bottom - target.top > view.height * 0.6)
    return corner
  const within = (value: number, size: number, most: number) => Math.max(8, Math.min(value, most - size - 8))
  if (target.bottom + gap + card.height <= view.height - 8)
    return { left: within(target.left, card.width, view.width), top: target.bottom + gap }
  if (target.right + gap + card.width <= view.width - 8)
    return { left: target.right + gap, top: within(target.top, card.height, view.height) }
  if (target.top - gap - card.height >= 8)
    return { left: within(target.left, card.width, view.width), top: target.top - gap - card.height }
  return corner
}
