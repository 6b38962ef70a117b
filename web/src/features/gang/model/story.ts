// What happened to a group, told from the attempts of its members: equal attempts of several
// members in a row are one step, and steps that repeat are told once.

import type { Summary } from '@/api/types'

/**
 * The kind of a step. held: rejected before any node was checked. waited: members have nodes
 * and wait at Permit. noNode: no node fits. sentBack: members waited and were rejected.
 */
export type StepKind = 'held' | 'waited' | 'noNode' | 'preempts' | 'sentBack' | 'scheduled' | 'simulated' | 'error'

export interface Step {
  kind: StepKind
  /** When the first attempt of the step began. */
  at: string
  /** The members, in the order of their attempts. */
  pods: readonly string[]
  /** The plugin that decided, and what it said about the last of them; ''. */
  plugin: string
  reason: string
  last: Summary
  /** How often the step happened in a row, alone or together with its neighbours. */
  times: number
}

/**
 * The steps, oldest first: at most the newest `most`. Summaries come newest first, and those of
 * other pods do not count.
 */
export function storyOf(
  summaries: readonly Summary[],
  members: ReadonlySet<string>,
  most = 12
): { steps: Step[]; dropped: number } {
  const steps: Step[] = []
  for (let i = summaries.length - 1; i >= 0; i--) {
    const summary = summaries[i]
    if (!summary || !members.has(summary.pod.uid)) continue
    const kind = kindOf(summary)
    if (!kind) continue
    const { name } = summary.pod
    const { plugin = '', reason = '' } = summary.refusal ?? {}
    const open = steps.at(-1)
    if (open && open.kind === kind && open.plugin === plugin) {
      open.pods = open.pods.includes(name) ? open.pods : [...open.pods, name]
      open.reason = reason
      open.last = summary
    } else {
      steps.push({ kind, at: summary.startTime, pods: [name], plugin, reason, last: summary, times: 1 })
    }
  }
  const told = withoutRepeats(steps)
  return { steps: told.slice(-most), dropped: Math.max(0, told.length - most) }
}

/** At most this many steps repeat together: a member waits, another fits no node, the first is sent back. */
const longestRound = 3

/** Merges rounds of steps of the same kinds into the first of them. */
function withoutRepeats(steps: readonly Step[]): Step[] {
  const out: Step[] = []
  for (let i = 0; i < steps.length;) {
    const round = Array.from({ length: longestRound }, (_, k) => k + 1).find(
      (n) =>
        out.length >= n &&
        i + n <= steps.length &&
        Array.from({ length: n }, (_, k) => k).every((k) => same(out.at(k - n), steps[i + k]))
    )
    if (!round) {
      const step = steps[i++]
      if (step) out.push(step)
      continue
    }
    for (let k = 0; k < round; k++) {
      const [known, again] = [out.at(k - round), steps[i + k]]
      if (!known || !again) continue
      known.times++
      known.pods = [...new Set([...known.pods, ...again.pods])]
      known.reason = again.reason
      known.last = again.last
    }
    i += round
  }
  return out
}

const same = (a: Step | undefined, b: Step | undefined) => a?.kind === b?.kind && a?.plugin === b?.plugin

/** undefined for the members of a group of Kubernetes that were not tried. */
function kindOf(summary: Summary): StepKind | undefined {
  const { outcome, selectedNode, nominatedNode, refusal } = summary
  if (outcome === 'scheduled') return 'scheduled'
  if (outcome === 'waiting') return 'waited'
  if (outcome === 'error') return 'error'
  if (nominatedNode) return 'preempts'
  if (!refusal) return selectedNode ? 'simulated' : undefined
  if (selectedNode) return 'sentBack'
  return refusal.extensionPoint === 'preFilter' ? 'held' : 'noNode'
}
