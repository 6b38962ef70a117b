// Cycles, their summaries and explanations for tests.

import type { Cycle, Summary } from '@/api/types'

const filterPlugins = [
  'NodeName',
  'NodeUnschedulable',
  'TaintToleration',
  'NodeAffinity',
  'NodePorts',
  'NodeResourcesFit',
  'PodTopologySpread',
]
const full = 'PPPPSPP'
const scorePlugins = [
  { name: 'TaintToleration', weight: 3 },
  { name: 'NodeAffinity', weight: 2 },
  { name: 'NodeResourcesFit', weight: 1 },
  { name: 'PodTopologySpread', weight: 2 },
  { name: 'InterPodAffinity', weight: 2 },
  { name: 'NodeResourcesBalancedAllocation', weight: 1 },
  { name: 'ImageLocality', weight: 1 },
]
const scored: [string, number[], number[]][] = [
  ['node-a2', [0, 0, 46, 2, 300, 74, 43], [100, 0, 46, 50, 100, 74, 43]],
  ['node-a3', [0, 0, 65, 2, 300, 74, 43], [100, 0, 65, 50, 100, 74, 43]],
  ['node-b1', [0, 80, 49, 4, 150, 74, 43], [100, 80, 49, 0, 25, 74, 43]],
  ['node-b2', [0, 100, 56, 2, 150, 74, 43], [100, 100, 56, 50, 25, 74, 43]],
  ['node-b3', [0, 0, 64, 0, 200, 74, 0], [100, 0, 64, 100, 50, 74, 0]],
  ['node-c3', [0, 80, 61, 2, 100, 74, 43], [100, 80, 61, 50, 0, 74, 43]],
]
const rejected: Record<string, [string, string]> = {
  'node-a1': ['NodeResourcesFit', 'Insufficient cpu'],
  'node-a4': ['TaintToleration', 'node(s) had untolerated taint(s)'],
  'node-b4': ['TaintToleration', 'node(s) had untolerated taint(s)'],
  'node-c1': ['NodeResourcesFit', 'Insufficient memory'],
  'node-c2': ['NodeAffinity', "node(s) didn't match Pod's node affinity/selector"],
  'node-c4': ['TaintToleration', 'node(s) had untolerated taint(s)'],
}

/** Attempt 3 of web-7f9c-x2k4: 12 nodes, 6 feasible, node-b2 chosen with 823. */
export function sampleCycle(change: Partial<Cycle> = {}): Cycle {
  const nodes = [...scored.map(([n]) => n), ...Object.keys(rejected)].sort()
  const weighted = scored.map(([, , normalized]) => normalized.map((v, p) => v * (scorePlugins[p]?.weight ?? 0)))
  return {
    pod: { namespace: 'shop', name: 'web-7f9c-x2k4', uid: 'u1' },
    attempt: 3,
    profile: 'default-scheduler',
    startTime: '2026-01-01T10:42:18.041Z',
    durationSeconds: 0.007,
    outcome: 'scheduled',
    selectedNode: 'node-b2',
    nodes: { total: 12, evaluated: 12, feasible: 6 },
    extensionPoints: [
      { name: 'preFilter', durationSeconds: 96e-6 },
      { name: 'filter', durationSeconds: 412e-6 },
      { name: 'score', durationSeconds: 238e-6 },
      { name: 'permit', durationSeconds: 2e-6 },
    ],
    preFilter: filterPlugins.map((plugin, p) => ({
      plugin,
      status: full[p] === 'S' ? 'Skip' : 'Success',
      durationSeconds: 1e-6,
    })),
    filter: {
      plugins: filterPlugins,
      nodes,
      states: nodes.map((n) => {
        const by = rejected[n]
        if (!by) return full
        const at = filterPlugins.indexOf(by[0])
        return full.slice(0, at) + 'R' + 'N'.repeat(full.length - at - 1)
      }),
      reasons: nodes.flatMap((node) => {
        const by = rejected[node]
        return by ? [{ node, plugin: by[0], reasons: [by[1]] }] : []
      }),
    },
    score: {
      plugins: scorePlugins,
      skipped: ['VolumeBinding'],
      nodes: scored.map(([n]) => n),
      raw: scored.map(([, raw]) => raw),
      normalized: scored.map(([, , normalized]) => normalized),
      weighted,
      totals: weighted.map((row) => row.reduce((a, b) => a + b, 0)),
    },
    explanation: {
      sentence: 'web-7f9c-x2k4 runs on node-b2: best total 823 of 6 feasible, 41 ahead of node-a3.',
      headline: {
        kind: 'best',
        pod: 'web-7f9c-x2k4',
        node: 'node-b2',
        total: 823,
        feasible: 6,
        margin: 41,
        next: 'node-a3',
      },
      rejections: [
        { plugin: 'TaintToleration', nodes: 3, reasons: [{ reason: 'node(s) had untolerated taint(s)', nodes: 3 }] },
        {
          plugin: 'NodeResourcesFit',
          nodes: 2,
          reasons: [
            { reason: 'Insufficient cpu', nodes: 1 },
            { reason: 'Insufficient memory', nodes: 1 },
          ],
        },
        {
          plugin: 'NodeAffinity',
          nodes: 1,
          reasons: [{ reason: "node(s) didn't match Pod's node affinity/selector", nodes: 1 }],
        },
      ],
      margin: {
        over: 'node-a3',
        total: 41,
        parts: [
          { plugin: 'NodeAffinity', difference: 200 },
          { plugin: 'InterPodAffinity', difference: -150 },
          { plugin: 'NodeResourcesFit', difference: -9 },
        ],
      },
    },
    ...change,
  }
}

/** An explanation of a cycle that compared nothing. */
export function explained(change: Partial<Cycle['explanation']> = {}): Cycle['explanation'] {
  return { sentence: '', headline: { kind: 'unscored', pod: 'web-7f9c-x2k4', node: 'node-b2', feasible: 6 }, ...change }
}

/** A decision that scheduled a pod, except for `more`. Its UID is its name. */
export const summary = (name: string, more: Partial<Summary> = {}): Summary => ({
  pod: { namespace: 'shop', name, uid: name },
  attempt: 1,
  profile: 'default-scheduler',
  startTime: '2026-01-02T03:04:05Z',
  durationSeconds: 0.01,
  outcome: 'scheduled',
  nodes: { total: 3, evaluated: 3, feasible: 1 },
  ...more,
})

/** A node's total, or the plugin that rejected it and its reasons. */
export type Outcome = number | [plugin: string, ...reasons: string[]]

/**
 * A cycle about n1, n2 and so on. A, B and C filter, and Skipped1 and Skipped2 do not. The server
 * compared the nodes in `compared`, the nearest first.
 */
export function cycleOf(of: readonly Outcome[], compared: string[] = []): Cycle {
  const plugins = ['A', 'Skipped1', 'B', 'Skipped2', 'C']
  const nodes = of.map((_, i) => `n${i + 1}`)
  const totals = of.filter((one) => typeof one === 'number')
  const scored = nodes.filter((_, i) => typeof of[i] === 'number')
  const rejected = nodes.flatMap((node, i) => {
    const one = of[i]
    if (one === undefined || typeof one === 'number') return []
    const [plugin, ...reasons] = one
    return [{ node, plugin, reasons }]
  })
  const byNode = new Map(rejected.map(({ node, plugin }) => [node, plugin]))
  return sampleCycle({
    outcome: scored.length ? 'scheduled' : 'unschedulable',
    selectedNode: scored[totals.indexOf(Math.max(...totals))] ?? '',
    nodes: { total: nodes.length, evaluated: nodes.length, feasible: scored.length },
    filter: {
      plugins,
      nodes,
      states: nodes.map((node) => {
        const at = plugins.indexOf(byNode.get(node) ?? '')
        return plugins.map((p, i) => (p.startsWith('S') ? 'S' : at < 0 || i < at ? 'P' : i === at ? 'R' : 'N')).join('')
      }),
      reasons: rejected,
      comparisons: compared.map((node) => ({
        node,
        plugin: byNode.get(node) ?? '',
        resources: [{ name: 'cpu', requested: 2000, inUse: 0, allocatable: 1500 }],
      })),
    },
    score: {
      plugins: [{ name: 'A', weight: 1 }],
      nodes: scored,
      raw: totals.map((n) => [n]),
      normalized: totals.map((n) => [n]),
      weighted: totals.map((n) => [n]),
      totals: [...totals],
    },
    explanation: explained({}),
  })
}
