// The question about a drain, and its answer on an axis of time.

import type { Drain, DrainAnswer, DrainEviction } from '@/api/types'

export interface DrainForm {
  /** Names of nodes, in their order, separated by commas. */
  nodes: string
  /** How long to try a node, in seconds; empty for ever. */
  timeout: string
  /** How many nodes at a time. */
  atOnce: string
  /** How long a pod takes to be ready (s). */
  start: string
  force: boolean
  emptyDir: boolean
}

export const nodesOf = (text: string): string[] => [...new Set(text.split(',').filter(Boolean))]

/** The whole number that a text is, or undefined. */
const whole = (text: string): number | undefined => (/^\d{1,6}$/.test(text.trim()) ? Number(text) : undefined)

/** The question of a form; undefined without a node. Pods of DaemonSets stay, as everybody asks kubectl. */
export function questionOf(form: DrainForm): Drain | undefined {
  const nodes = nodesOf(form.nodes)
  if (!nodes.length) return undefined
  return {
    nodes,
    ignoreDaemonSets: true,
    ...(form.force ? { force: true } : {}),
    ...(form.emptyDir ? { deleteEmptyDirData: true } : {}),
    ...(whole(form.timeout) ? { timeoutSeconds: whole(form.timeout) } : {}),
    ...(whole(form.atOnce) ? { atOnce: whole(form.atOnce) } : {}),
    ...(whole(form.start) ? { startSeconds: whole(form.start) } : {}),
  }
}

/** kubectl's command for the same drain. */
export function commandOf({ nodes = [], force, deleteEmptyDirData, timeoutSeconds }: Drain): string {
  return [
    'kubectl drain',
    ...nodes,
    '--ignore-daemonsets',
    ...(deleteEmptyDirData ? ['--delete-emptydir-data'] : []),
    ...(force ? ['--force'] : []),
    ...(timeoutSeconds ? [`--timeout=${timeoutSeconds}s`] : []),
  ].join(' ')
}

/** What a workspace plays, so that the drain is carried out there. A node that does not empty is given up. */
export function scenarioOf({ nodes = [], force, deleteEmptyDirData, timeoutSeconds }: Drain): object {
  return {
    apiVersion: 'kube-scheduler-simulator.sigs.k8s.io/v1alpha1',
    kind: 'Scenario',
    metadata: { name: 'drain' },
    steps: nodes.map((node) => ({
      name: node,
      drain: { node, force, deleteEmptyDirData, timeout: `${timeoutSeconds ?? 600}s` },
    })),
  }
}

/** A span of an eviction, in percent of the axis. `open` has no end. */
export interface Span {
  kind: 'waits' | 'leaves' | 'starts'
  from: number
  to: number
  open?: boolean
}

/** The end of the axis (s): a while after the last thing that happens. */
export function endOf({ summary, nodes, evictions }: Pick<DrainAnswer, 'summary' | 'nodes' | 'evictions'>): number {
  const times = [
    summary.seconds ?? 0,
    ...nodes.flatMap(({ begins = 0, ends = 0 }) => [begins, ends]),
    ...evictions.flatMap(({ asked, evicted = 0, placed = 0, ready = 0 }) => [asked, evicted, placed, ready]),
  ]
  const last = Math.max(...times)
  return summary.seconds === undefined ? Math.max(10, Math.ceil(last * 1.25)) : Math.max(1, last)
}

export function spansOf({ asked, evicted, placed, ready, fate }: DrainEviction, end: number): Span[] {
  const at = (time: number) => Math.min(100, (time / end) * 100)
  const spans: Span[] = []
  if (evicted === undefined) {
    if (fate === 'blocked') spans.push({ kind: 'waits', from: at(asked), to: 100, open: true })
    return spans
  }
  if (evicted > asked) spans.push({ kind: 'waits', from: at(asked), to: at(evicted) })
  spans.push({ kind: 'leaves', from: at(evicted), to: at(placed ?? evicted) })
  if (placed !== undefined && ready !== undefined) spans.push({ kind: 'starts', from: at(placed), to: at(ready) })
  return spans
}

/** Round times for the axis (s), at most so many. */
export function ticksOf(end: number, most = 6): number[] {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400].find((one) => end / one <= most)
  const by = step ?? Math.ceil(end / most)
  return Array.from({ length: Math.floor(end / by) + 1 }, (_, i) => i * by)
}
