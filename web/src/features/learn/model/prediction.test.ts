import { describe, expect, it } from 'vitest'
import type { NodeGrade, Prediction } from '@/api/learn'
import type { Cycle } from '@/api/types'
import { explained, sampleCycle } from '@/features/decision/model/testing'
import { crossed, isComplete, picked, reveals, rightOf } from './prediction'

/** Grades as the server computes them. */
function gradesOf(cycle: Cycle, { crossedOut, picked: node }: Prediction): NodeGrade[] {
  const feasible = new Set(cycle.score?.nodes)
  return (cycle.filter?.nodes ?? []).map((name) => {
    const verdict = name === cycle.selectedNode ? 'chosen' : feasible.has(name) ? 'feasible' : 'rejected'
    const out = crossedOut.includes(name)
    return {
      node: name,
      verdict,
      crossedOut: out,
      picked: node === name,
      right: out === (verdict === 'rejected') && (node === name) === (verdict === 'chosen'),
    }
  })
}
function without(cycle: Cycle, key: 'score' | 'selectedNode'): Cycle {
  return Object.fromEntries(Object.entries(cycle).filter(([name]) => name !== key)) as unknown as Cycle
}
const told = (cycle: Cycle, mine: Prediction) => reveals(cycle, gradesOf(cycle, mine))

describe('reveals', () => {
  const cycle = sampleCycle()
  const all = told(cycle, { crossedOut: ['node-a4', 'node-b3'], picked: 'node-a1' })

  it('has the plugins that made a difference, in their order, and the total', () => {
    expect(all.rows.map((row) => `${row.kind} ${'plugin' in row ? row.plugin : ''}`.trim())).toEqual([
      'filter TaintToleration',
      'filter NodeAffinity',
      'filter NodeResourcesFit',
      'score TaintToleration',
      'score NodeAffinity',
      'score NodeResourcesFit',
      'score PodTopologySpread',
      'score InterPodAffinity',
      'score NodeResourcesBalancedAllocation',
      'score ImageLocality',
      'total',
    ])
    expect(all.rows.at(-1)).toEqual({ kind: 'total', best: 'node-b2', margin: 41, next: 'node-a3', tied: [] })
  })

  it('says in each cell what the scheduler recorded', () => {
    expect(all.cell(0, 'node-a4')).toMatchObject({ kind: 'rejected', reason: 'node(s) had untolerated taint(s)' })
    expect(all.cell(1, 'node-a4')).toEqual({ kind: 'notRun' })
    expect(all.cell(0, 'node-a1')).toEqual({ kind: 'passed' })
    expect(all.cell(3, 'node-a4')).toEqual({ kind: 'notScored' })
    expect(all.cell(4, 'node-b2')).toEqual({ kind: 'scored', raw: 100, normalized: 100, weighted: 200 })
    expect(all.cell(10, 'node-b2')).toEqual({ kind: 'total', total: 823, chosen: true })
  })

  it('holds back the verdict until its plugin is shown', () => {
    expect(all.foot('node-a4', 0)).toMatchObject({ verdict: { kind: 'in' }, settled: false })
    expect(all.foot('node-a4', 1)).toMatchObject({
      verdict: { kind: 'rejected', plugin: 'TaintToleration' },
      learner: 'agreed',
      right: true,
      settled: true,
    })
    expect(all.foot('node-a1', 2).verdict).toEqual({ kind: 'in' })
    expect(all.foot('node-b2', 10).verdict).toEqual({ kind: 'in' })
    expect(all.foot('node-b2', 11).verdict).toEqual({ kind: 'chosen' })
  })

  it('puts the learner’s answer below the scheduler’s', () => {
    const learner = (node: string) => all.foot(node, 11).learner
    expect(['node-a1', 'node-b3', 'node-b2', 'node-a3', 'node-b4'].map(learner)).toEqual([
      'picked',
      'crossedOut',
      'notPicked',
      'agreed',
      'leftIn',
    ])
    expect(told(cycle, { crossedOut: [], picked: 'node-b2' }).foot('node-b2', 11).learner).toBe('pickedRight')
    expect(rightOf(gradesOf(cycle, { crossedOut: ['node-a4', 'node-b3'], picked: 'node-a1' }))).toBe(5)
  })

  it('ends without a node when none fits', () => {
    const none = without(
      without(sampleCycle({ outcome: 'unschedulable', explanation: explained() }), 'score'),
      'selectedNode'
    )
    expect(told(none, { crossedOut: [], picked: '' }).rows.at(-1)).toEqual({ kind: 'none' })
  })

  it('ends with the only feasible node, which is not scored', () => {
    const { rows, foot } = told(without(sampleCycle(), 'score'), { crossedOut: [], picked: '' })
    expect(rows.at(-1)).toEqual({ kind: 'total', best: 'node-b2', margin: 0, next: '', tied: [] })
    expect(foot('node-b2', rows.length).verdict).toEqual({ kind: 'chosen' })
  })
})

describe('a prediction', () => {
  const none: Prediction = { crossedOut: [], picked: '' }
  it('never picks a node that is crossed out', () => {
    expect(crossed(picked(none, 'a'), 'a')).toEqual({ crossedOut: ['a'], picked: '' })
    expect(picked(crossed(none, 'a'), 'a')).toEqual({ crossedOut: [], picked: 'a' })
    expect(picked(picked(none, 'a'), 'a')).toEqual(none)
    expect(crossed(crossed(picked(none, 'b'), 'a'), 'a')).toEqual({ crossedOut: [], picked: 'b' })
  })
  it('is complete with a pick, or with every node crossed out', () => {
    expect(isComplete(none, 2)).toBe(false)
    expect(isComplete(picked(none, 'a'), 2)).toBe(true)
    expect(isComplete({ crossedOut: ['a', 'b'], picked: '' }, 2)).toBe(true)
    expect(isComplete(none, 0)).toBe(false)
  })
})
