import { describe, expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { differenceOf, isSame, nodePairs, totalPairs } from './attemptDifference'
import { sampleCycle } from './testing'

/** The attempt before: like sampleCycle, but node-b2 had no room. */
function earlier(): Cycle {
  const cycle = sampleCycle({ attempt: 2, outcome: 'unschedulable', revision: 3 })
  delete cycle.selectedNode
  delete cycle.score
  const filter = cycle.filter
  if (!filter) throw new Error('no filter')
  const full = new Set(['node-a2', 'node-a3', 'node-b1', 'node-b2', 'node-b3', 'node-c3'])
  cycle.filter = {
    ...filter,
    states: filter.states.map((s, i) => (full.has(filter.nodes[i] ?? '') ? 'PPPPSRN' : s)),
    reasons: [
      ...filter.reasons,
      ...[...full].map((node) => ({ node, plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'] })),
    ],
  }
  cycle.nodes = { total: 12, evaluated: 12, feasible: 0 }
  cycle.explanation = {
    ...cycle.explanation,
    rejections: cycle.explanation.rejections?.map((by) =>
      by.plugin === 'NodeResourcesFit' ? { ...by, nodes: 8 } : by
    ),
  }
  return cycle
}

describe('differenceOf', () => {
  it('is empty for an attempt and itself', () => {
    expect(isSame(differenceOf(sampleCycle(), sampleCycle()))).toBe(true)
  })

  it('names the nodes and plugins that made the pod schedulable', () => {
    const difference = differenceOf(earlier(), sampleCycle({ revision: 4 }))
    expect(difference.facts).toEqual([
      { fact: 'outcome', from: 'unschedulable', to: 'scheduled' },
      { fact: 'node', from: '', to: 'node-b2' },
    ])
    expect(difference.numbers).toEqual([
      { fact: 'revision', from: 3, to: 4 },
      { fact: 'feasible', from: 0, to: 6 },
    ])
    expect(difference.rejections).toEqual([{ plugin: 'NodeResourcesFit', from: 8, to: 2 }])
    expect(difference.nodes.map((c) => c.node)).toEqual([
      'node-a2',
      'node-a3',
      'node-b1',
      'node-b2',
      'node-b3',
      'node-c3',
    ])
    expect(difference.nodes[0]).toEqual({
      node: 'node-a2',
      from: { kind: 'rejected', plugin: 'NodeResourcesFit', reason: 'Insufficient cpu' },
      to: { kind: 'feasible' },
    })
    // The earlier attempt has no scores, so no total can have changed.
    expect(difference.totals).toEqual([])
  })

  it('splits the change of a total by plugin', () => {
    const before = sampleCycle()
    const after = sampleCycle()
    const score = after.score
    if (!score) throw new Error('no score')
    const row = score.nodes.indexOf('node-a3')
    const fit = score.plugins.findIndex((p) => p.name === 'NodeResourcesFit')
    after.score = {
      ...score,
      plugins: score.plugins.map((p) => (p.name === 'NodeResourcesFit' ? { ...p, weight: 5 } : p)),
      weighted: score.weighted.map((w, r) => (r === row ? w.map((v, p) => (p === fit ? v * 5 : v)) : w)),
      totals: score.totals.map((t, r) => (r === row ? t + 260 : t)),
    }
    const difference = differenceOf(before, after)
    expect(difference.weights).toEqual([{ plugin: 'NodeResourcesFit', from: 1, to: 5 }])
    expect(difference.totals).toEqual([
      { node: 'node-a3', from: 782, to: 1042, parts: [{ plugin: 'NodeResourcesFit', difference: 260 }] },
    ])
  })

  it('distinguishes added, removed and unevaluated nodes from rejected ones', () => {
    const after = sampleCycle()
    const filter = after.filter
    if (!filter) throw new Error('no filter')
    after.filter = {
      ...filter,
      nodes: filter.nodes.map((n) => (n === 'node-c4' ? 'node-d1' : n)),
      reasons: filter.reasons.map((r) => (r.node === 'node-c4' ? { ...r, node: 'node-d1' } : r)),
    }
    expect(differenceOf(sampleCycle(), after).nodes.map((c) => [c.node, c.from.kind, c.to.kind])).toEqual([
      ['node-c4', 'rejected', 'absent'],
      ['node-d1', 'absent', 'rejected'],
    ])
  })

  it('does not list successes of an extension point that only one attempt reached', () => {
    const bound = sampleCycle({ bind: [{ plugin: 'DefaultBinder', status: 'Success', durationSeconds: 0 }] })
    const waits = sampleCycle({
      postFilter: [{ plugin: 'DefaultPreemption', status: 'Unschedulable', reasons: ['none'], durationSeconds: 0 }],
    })
    expect(differenceOf(waits, bound).answers.map((a) => `${a.stage} ${a.plugin} ${a.from} ${a.to}`)).toEqual([
      'PostFilter DefaultPreemption Unschedulable undefined',
    ])
  })

  it('lists plugins with a different result', () => {
    const refused = sampleCycle({ permit: [{ plugin: 'Gang', status: 'Wait', durationSeconds: 0 }] })
    const let_ = sampleCycle({ permit: [{ plugin: 'Gang', status: 'Success', durationSeconds: 0 }] })
    expect(differenceOf(refused, let_).answers).toEqual([
      { stage: 'Permit', plugin: 'Gang', from: 'Wait', to: 'Success', reasons: [] },
    ])
  })

  it('pairs every node of two decisions, also of different pods', () => {
    const other = earlier()
    other.pod = { namespace: 'shop', name: 'other', uid: 'u2' }
    const nodes = nodePairs(other, sampleCycle())
    expect(nodes).toHaveLength(12)
    expect(nodes.find((n) => n.node === 'node-a1')).toEqual({
      node: 'node-a1',
      from: { kind: 'rejected', plugin: 'NodeResourcesFit', reason: 'Insufficient cpu' },
      to: { kind: 'rejected', plugin: 'NodeResourcesFit', reason: 'Insufficient cpu' },
    })
    expect(nodes.find((n) => n.node === 'node-b2')?.to).toEqual({ kind: 'feasible' })
  })

  it('pairs the totals of every node that either decision scored', () => {
    const unscored = totalPairs(earlier(), sampleCycle())
    expect(unscored[0]).toEqual({ node: 'node-b2', from: undefined, to: 823, parts: [] })
    expect(totalPairs(sampleCycle(), earlier()).map((p) => [p.from !== undefined, p.to])).toEqual(
      Array.from({ length: 6 }, () => [true, undefined])
    )
  })
})
