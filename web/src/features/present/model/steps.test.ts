import { describe, expect, it } from 'vitest'
import type { Cycle, PodGroup, Victim } from '@/api/types'
import { explained, sampleCycle } from '@/features/decision/model/testing'
import { boardAt, leadersAt, type Board } from './board'
import { partsOf, presentation, type Content, type Presentation } from './steps'
import { line } from './testing'

const linesOf = (shown: Presentation) => shown.steps.map((step) => line(step.content))
const lines = (change: Partial<Cycle> = {}) => linesOf(presentation(sampleCycle(change)))

describe('the steps of a scheduled pod', () => {
  it('cross nodes out plugin by plugin, add scores one by one, and end with the winner', () => {
    expect(lines()).toEqual([
      'pod',
      'preFilter',
      'passes NodeName NodeUnschedulable: 12 left',
      'rejects TaintToleration 3: 9 left; node(s) had untolerated taint(s) 3',
      "rejects NodeAffinity 1: 8 left; node(s) didn't match Pod's node affinity/selector 1",
      'rejects NodeResourcesFit 2: 6 left; Insufficient cpu 1; Insufficient memory 1',
      'passes PodTopologySpread: 6 left',
      'feasible 6',
      'score TaintToleration × 3 same 300',
      'score NodeAffinity × 2',
      'score NodeResourcesFit × 1',
      'score PodTopologySpread × 2',
      'score InterPodAffinity × 2',
      'score NodeResourcesBalancedAllocation × 1 same 74',
      'score ImageLocality × 1',
      'chosen node-b2 823 +41 node-a3',
      'end',
    ])
    expect(partsOf(presentation(sampleCycle()))).toEqual(['Queue', 'PreFilter', 'Filter', 'Score', 'Result'])
  })

  it('do not score a single feasible node', () => {
    const one = lines({ score: undefined, nodes: { total: 12, evaluated: 12, feasible: 1 } })
    expect(one.slice(-3)).toEqual(['unscored 1 one', 'chosen node-b2 - +0 ', 'end'])
  })

  it('name the nodes with the same total', () => {
    const score = {
      plugins: [{ name: 'A', weight: 1 }],
      nodes: ['a', 'b'],
      raw: [[5], [5]],
      normalized: [[5], [5]],
      weighted: [[5], [5]],
      totals: [5, 5],
      tied: ['a', 'b'],
    }
    expect(lines({ selectedNode: 'b', score } as Partial<Cycle>).at(-2)).toBe('chosen b 5 +0 a tied a')
  })

  it('say that the search ended early, after Filter, or that PreFilter left nodes out, before it', () => {
    const at = (why: 'enoughFeasibleNodes' | 'preFilter', wanted: number) => {
      const all = lines({
        nodes: { total: 20, evaluated: 12, feasible: 6 },
        explanation: explained({ notEvaluated: { nodes: 8, why, wanted } }),
      })
      return [
        all.findIndex((l) => l.startsWith('notEvaluated')),
        all.findIndex((l) => l.startsWith('rejects')),
        all.find((l) => l.startsWith('notEvaluated')),
      ]
    }
    const [early, filter, said] = at('preFilter', 0)
    expect(Number(early)).toBeLessThan(Number(filter))
    expect(said).toBe('notEvaluated 8 preFilter')
    const [late] = at('enoughFeasibleNodes', 6)
    expect(Number(late)).toBeGreaterThan(Number(filter))
    expect(at('enoughFeasibleNodes', 1)[2]).toBe('notEvaluated 8 firstFeasible')
  })

  it('lead through Permit to binding', () => {
    const bound = lines({
      reserve: [{ plugin: 'VolumeBinding', status: 'Success', durationSeconds: 0 }],
      permit: [{ plugin: 'Gang', status: 'Wait', durationSeconds: 0, timeoutSeconds: 10 }],
      permitWait: { plugins: ['Gang'], durationSeconds: 1, status: 'Success' },
      bind: [{ plugin: 'DefaultBinder', status: 'Success', durationSeconds: 0 }],
    })
    expect(bound.slice(-2)).toEqual(['binding Reserve Success, Permit Wait, WaitOnPermit Success, Bind Success', 'end'])
  })
})

describe('the steps of a pod without a node', () => {
  const nowhere = {
    outcome: 'unschedulable',
    selectedNode: undefined,
    score: undefined,
    nodes: { total: 2, evaluated: 2, feasible: 0 },
  } as const

  it('cross out every node, and name the plugins that no longer run', () => {
    const filter = {
      plugins: ['A', 'B', 'C'],
      nodes: ['n1', 'n2'],
      states: ['RNN', 'PRN'],
      reasons: [
        { node: 'n1', plugin: 'A', reasons: ['no a'] },
        { node: 'n2', plugin: 'B', reasons: ['no b'] },
      ],
    }
    expect(lines({ ...nowhere, preFilter: undefined, filter })).toEqual([
      'pod',
      'rejects A 1: 1 left; no a 1',
      'rejects B 1: 0 left; no b 1',
      'notRun C',
      'end',
    ])
  })

  it('tell a failure from a rejection, and the framework’s own rejection from a plugin’s', () => {
    const filter = {
      plugins: ['A', 'B'],
      nodes: ['n1', 'n2'],
      states: ['EN', 'NN'],
      reasons: [{ node: 'n1', plugin: 'A', reasons: ['boom'] }],
    }
    expect(lines({ ...nowhere, outcome: 'error', preFilter: undefined, filter })).toEqual([
      'pod',
      'failed A 1',
      'notRun B',
      'rejects (framework) 1: 0 left',
      'end',
    ])
  })

  it('do not take an extender that failed for one that passed', () => {
    const filter = { plugins: ['A'], nodes: ['n1', 'n2'], states: ['P', 'P'], reasons: [] }
    const failing = (ignored: boolean) =>
      lines({
        ...nowhere,
        preFilter: undefined,
        filter,
        extenders: [{ plugin: 'http://x', verb: 'filter', status: 'Error', durationSeconds: 0, ignored }],
      })
    expect(failing(false)).toEqual(['pod', 'passes A: 2 left', 'failed http://x 2', 'end'])
    expect(failing(true)).toEqual(['pod', 'passes A: 2 left', 'failed http://x 2 ignored', 'end'])
  })

  it('end at PreFilter when a plugin rejects the pod there', () => {
    const preFilter = [
      {
        plugin: 'VolumeBinding',
        status: 'UnschedulableAndUnresolvable' as const,
        reasons: ['no claim'],
        durationSeconds: 0,
      },
    ]
    expect(lines({ ...nowhere, filter: undefined, preFilter })).toEqual([
      'pod',
      'preFilter refused by VolumeBinding',
      'end',
    ])
  })

  it('count an extender as the last column of Filter and of Score', () => {
    const filter = { plugins: ['A'], nodes: ['n1', 'n2'], states: ['P', 'P'], reasons: [] }
    const extenders = [
      {
        plugin: 'http://x',
        verb: 'filter' as const,
        status: 'Success' as const,
        durationSeconds: 0,
        nodes: 2,
        rejected: [{ node: 'n2', reason: 'not here' }],
      },
    ]
    const score = {
      plugins: [{ name: 'A', weight: 1 }],
      extenders: [{ name: 'http://x', weight: 5 }],
      nodes: ['n1'],
      raw: [[1]],
      normalized: [[1]],
      weighted: [[1]],
      answered: [[null]],
      counted: [[0]],
      totals: [1],
    }
    const all = lines({ filter, extenders, score, preFilter: undefined, selectedNode: 'n1' } as Partial<Cycle>)
    expect(all).toContain('rejects http://x 1: 1 left; not here 1')
    expect(all).toContain('score http://x × 5 same 0')
    const shown = presentation(
      sampleCycle({ filter, extenders, score, preFilter: undefined, selectedNode: 'n1' } as Partial<Cycle>)
    )
    const last = shown.steps.find((s) => s.content.kind === 'score' && s.content.extender)
    expect(last && boardAt(shown, last)?.faces[0]?.added).toEqual({
      raw: undefined,
      normalized: undefined,
      weighted: 0,
    })
  })

  it('apply the rules of preemption one by one', () => {
    const victim = (name: string, priority: number): Victim => ({ pod: { namespace: 'd', name, uid: name }, priority })
    const one = (node: string, ...victims: Victim[]) => ({ node, victims, pdbViolations: 0 })
    const preempted = (preemption: Cycle['preemption']) =>
      lines({ ...nowhere, preFilter: undefined, filter: undefined, nominatedNode: preemption?.chosen, preemption })
    expect(
      preempted({
        candidates: [
          one('a', victim('x', 1000)),
          one('b', victim('y', 100), victim('z', 50)),
          { ...one('c', victim('w', 100)), reprieved: [victim('r', 9)] },
        ],
        chosen: 'c',
        rule: 'lowestSumOfPriorities',
      })
    ).toEqual([
      'pod',
      'candidates 3',
      'rule lowestHighestPriority after fewestPDBViolations: 1 out, 2 left',
      'rule lowestSumOfPriorities: 1 out, 1 left, decides',
      'victims on c: w, 1 stay',
      'end',
    ])
    expect(
      preempted({
        candidates: [one('a', victim('x', 1)), one('b', victim('y', 1))],
        chosen: 'a',
        rule: 'firstFound',
      }).slice(2)
    ).toEqual(['firstFound a of 2', 'victims on a: x, 0 stay', 'end'])
    expect(preempted({ candidates: [one('a', victim('x', 1))], chosen: 'a' }).slice(1)).toEqual([
      'candidates 1',
      'victims on a: x, 0 stay',
      'end',
    ])
    expect(
      preempted({
        candidates: [],
        unhelpful: [{ plugin: 'P', status: 'UnschedulableAndUnresolvable', reasons: ['x'], nodes: ['a'] }],
      }).slice(1)
    ).toEqual(['candidates 0', 'end'])
  })
})

it('a pod of a group shows the group first, and its placements if there are several', () => {
  const group: PodGroup = {
    namespace: 'ml',
    name: 'training',
    minCount: 2,
    members: [],
    memberCount: 2,
    outcome: 'scheduled',
    placements: [{ name: '', nodes: 3, tried: 2, assigned: 2, status: 'Success' }],
  }
  expect(lines({ podGroup: group }).slice(0, 3)).toEqual(['pod', 'group', 'preFilter'])
  const racks = {
    ...group,
    topologyKey: 'rack',
    placements: [{ name: 'r1', nodes: 3, tried: 2, assigned: 2, status: 'Success' }],
  }
  expect(lines({ podGroup: racks }).slice(0, 3)).toEqual(['pod', 'group', 'placements'])
})

describe('boardAt', () => {
  const shown = presentation(sampleCycle())
  const at = (kind: Content['kind'], plugin = '') => {
    const step = shown.steps.find(
      (s) => s.content.kind === kind && (!plugin || ('plugin' in s.content && s.content.plugin === plugin))
    )
    if (!step) throw new Error(`no step ${kind}`)
    return boardAt(shown, step) as Board
  }
  const states = (board: Board) => Object.fromEntries(board.faces.map((f) => [f.node, f.state]))

  it('has every node in before Filter, then crosses them out and keeps them crossed out', () => {
    expect(new Set(at('pod').faces.map((f) => f.state))).toEqual(new Set(['in']))
    expect(states(at('rejects', 'TaintToleration'))).toMatchObject({
      'node-a4': 'leaving',
      'node-b4': 'leaving',
      'node-c4': 'leaving',
      'node-a1': 'in',
    })
    expect(states(at('rejects', 'NodeResourcesFit'))).toMatchObject({
      'node-a4': 'out',
      'node-c2': 'out',
      'node-a1': 'leaving',
      'node-c1': 'leaving',
      'node-b2': 'in',
    })
    expect(at('rejects', 'NodeResourcesFit').faces.find((f) => f.node === 'node-a1')).toMatchObject({
      plugin: 'NodeResourcesFit',
      reason: 'Insufficient cpu',
    })
  })

  it('adds up to the recorded totals, and tells the winner only at the end', () => {
    const points = (board: Board) => board.faces.find((f) => f.node === 'node-b2')?.points
    expect([
      points(at('feasible')),
      points(at('score', 'TaintToleration')),
      points(at('score', 'NodeAffinity')),
      points(at('score', 'ImageLocality')),
    ]).toEqual([0, 300, 500, 823])
    expect(at('score', 'NodeAffinity').faces.find((f) => f.node === 'node-b1')?.added).toEqual({
      raw: 80,
      normalized: 80,
      weighted: 160,
    })
    expect(at('score', 'ImageLocality').faces.map((f) => f.state)).not.toContain('chosen')
    expect(states(at('chosen'))['node-b2']).toBe('chosen')
    expect(at('chosen').faces.find((f) => f.node === 'node-b2')?.share).toBe(1)
  })

  it('knows who leads at each step, which need not be the winner', () => {
    const leaders = (plugin: string) => {
      const [step] = shown.steps.filter((s) => s.content.kind === 'score' && s.content.plugin === plugin)
      return step && leadersAt(shown, step)
    }
    // A plugin that gives every node the same score puts no node ahead.
    expect(leaders('TaintToleration')).toEqual({ nodes: [], points: 0 })
    expect(leaders('NodeAffinity')).toEqual({ nodes: ['node-b2'], points: 500 })
    expect(leaders('InterPodAffinity')?.points).toBeGreaterThan(500)
  })

  it('counts 5,000 nodes, and names only those with the best totals', () => {
    const nodes = Array.from({ length: 5000 }, (_, i) => `n${String(i).padStart(4, '0')}`)
    const rejects = (i: number) => i % 5 !== 0
    const feasible = nodes.filter((_, i) => !rejects(i))
    const large = presentation(
      sampleCycle({
        selectedNode: 'n4995',
        nodes: { total: 6000, evaluated: 5000, feasible: feasible.length },
        filter: {
          plugins: ['A', 'B'],
          nodes,
          states: nodes.map((_, i) => (rejects(i) ? 'RN' : 'PP')),
          reasons: nodes.flatMap((node, i) => (rejects(i) ? [{ node, plugin: 'A', reasons: ['no'] }] : [])),
        },
        score: {
          plugins: [{ name: 'A', weight: 2 }],
          nodes: feasible,
          raw: feasible.map((_, i) => [i]),
          normalized: feasible.map((_, i) => [i]),
          weighted: feasible.map((_, i) => [2 * i]),
          totals: feasible.map((_, i) => 2 * i),
        },
        explanation: explained({ notEvaluated: { nodes: 1000, why: 'enoughFeasibleNodes', wanted: 1000 } }),
      })
    )
    const board = (kind: Content['kind']) =>
      large.steps.filter((s) => s.content.kind === kind).map((s) => boardAt(large, s) as Board)[0] as Board
    expect(board('rejects')).toMatchObject({
      faces: [],
      scored: 0,
      notEvaluated: 1000,
      counts: [
        { state: 'in', nodes: 1000 },
        { state: 'leaving', plugin: 'A', nodes: 4000 },
        { state: 'notEvaluated', nodes: 1000 },
      ],
    })
    expect(board('score').scored).toBe(1000)
    expect(board('score').faces.map((f) => `${f.node} ${f.points}`)).toEqual([
      'n4995 1998',
      'n4990 1996',
      'n4985 1994',
      'n4980 1992',
      'n4975 1990',
      'n4970 1988',
      'n4965 1986',
      'n4960 1984',
    ])
    expect(board('chosen').faces[0]?.state).toBe('chosen')
    const [step] = large.steps.filter((s) => s.content.kind === 'score')
    expect(step && leadersAt(large, step)).toEqual({ nodes: ['n4995'], points: 1998 })
  })
})
