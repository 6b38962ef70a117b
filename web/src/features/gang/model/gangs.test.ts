import { describe, expect, it } from 'vitest'
import type { KubeObject, Pod, Summary } from '@/api/types'
import { blockedBy, filterGangs, firstToWait, gangsOf, memberOf, newestByPod, stagesOf, type Gang } from './gangs'
import { at, attempt, member, noNode, scheduled, sentBack, tooFew, waiting } from './testing'

const group = (name: string, minMember: number): KubeObject => ({
  metadata: { namespace: 'ml', name },
  spec: { minMember },
})
const gangs = (groups: KubeObject[], pods: Pod[], summaries: Summary[] = [], native: KubeObject[] = []) =>
  gangsOf({ coscheduling: groups, native }, pods, newestByPod(summaries))
const one = (least: number, pods: Pod[], summaries: Summary[] = []) =>
  gangs([group('pretrain', least)], pods, summaries)[0] as Gang

describe('a group of Coscheduling', () => {
  it('waits while members wait at Permit for one that fits no node', () => {
    const gang = one(
      3,
      ['a', 'b', 'c'].map((name) => member(name)),
      [noNode('c', 3), waiting('b', 2), waiting('a', 1)]
    )
    expect([gang.state, gang.slots, gang.placed]).toEqual(['waiting', ['waiting', 'waiting', 'rejected'], 2])
    expect(firstToWait(gang)?.key).toBe('ml/a')
    expect(blockedBy(gang, [noNode('c', 3), waiting('b', 2), waiting('a', 1)])).toMatchObject({
      member: { key: 'ml/c' },
      noNode: true,
    })
  })
  it('is rejected when the waiting members were sent back', () => {
    const gang = one(
      3,
      ['a', 'b', 'c'].map((name) => member(name)),
      [noNode('c', 3), sentBack('b', 2), sentBack('a', 1)]
    )
    expect([gang.state, gang.slots, gang.placed]).toEqual(['rejected', ['sentBack', 'sentBack', 'rejected'], 0])
  })
  it('is blocked by the last member that fit no node, also when that was sent back since', () => {
    const summaries = [sentBack('c', 9), sentBack('b', 8), noNode('c', 7), noNode('b', 6), scheduled('other', 5)]
    expect(
      blockedBy(
        one(
          2,
          ['b', 'c'].map((name) => member(name)),
          summaries
        ),
        summaries
      )
    ).toMatchObject({ member: { key: 'ml/c' }, summary: { startTime: at(7) }, noNode: true })
    const held = [tooFew('b', 2), noNode('b', 1)]
    expect(blockedBy(one(2, [member('b')], held), held)).toMatchObject({ summary: { startTime: at(2) }, noNode: false })
    expect(blockedBy(one(1, [member('a', { spec: { nodeName: 'n' } })]), [noNode('a', 1)])).toBeUndefined()
  })
  it('has too few pods, and shows the missing ones as slots', () => {
    const gang = one(4, [member('a'), member('b')], [tooFew('b', 2), tooFew('a', 1)])
    expect([gang.state, gang.slots]).toEqual(['tooFew', ['held', 'held', 'absent', 'absent']])
  })
  it('is gated when too few members have no gate', () => {
    const gated = { schedulingGates: [{ name: 'quota' }] }
    expect([
      one(2, [member('a'), member('b', { spec: gated })]).state,
      one(2, [member('a'), member('b'), member('c', { spec: gated })]).state,
    ]).toEqual(['gated', 'untried'])
  })
  it('runs, in part when more members have no node, and finishes', () => {
    const bound = { nodeName: 'node-a' }
    const pods = [member('a', { spec: bound }), member('b', { spec: bound })]
    expect([one(2, pods).state, one(2, [...pods, member('c')], [noNode('c', 1)]).state]).toEqual(['running', 'partly'])
    expect(one(1, [member('a', { spec: bound, status: { phase: 'Succeeded' } })]).state).toBe('finished')
  })
  it('counts only the newest attempt of the pod that exists now', () => {
    const gang = one(1, [member('a')], [noNode('a', 9), waiting('a', 1), scheduled('gone', 10)])
    expect(gang.slots).toEqual(['rejected'])
  })
  it('without pods needs them', () => {
    expect(one(0, []).state).toBe('tooFew')
  })
})

describe('a group of Kubernetes', () => {
  const object: KubeObject = {
    metadata: { namespace: 'ml', name: 'moe' },
    spec: { schedulingPolicy: { gang: { minCount: 3 } }, schedulingConstraints: { topology: [{ key: 'rack' }] } },
    status: {
      conditions: [
        {
          type: 'PodGroupInitiallyScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: '0/4 placements are available',
        },
      ],
    },
  }
  const pod = (name: string): Pod => ({
    metadata: { namespace: 'ml', name, uid: name },
    spec: { schedulingGroup: { podGroupName: 'moe' } },
  })
  it('shows which members were simulated only, which has no node, and which was not tried', () => {
    const summaries = [
      attempt('c', 3, { outcome: 'unschedulable' }),
      noNode('b', 2),
      attempt('a', 1, { outcome: 'unschedulable', selectedNode: 'node-a' }),
    ]
    const [gang] = gangs([], ['a', 'b', 'c'].map(pod), summaries, [object])
    expect(gang).toMatchObject({
      id: 'native/ml/moe',
      state: 'rejected',
      least: 3,
      topologyKey: 'rack',
      phase: 'Unschedulable',
      message: '0/4 placements are available',
      placed: 1,
    })
    expect(gang?.members.map(({ state, node }) => [state, node])).toEqual([
      ['simulated', 'node-a'],
      ['rejected', ''],
      ['untried', ''],
    ])
  })
})

it('lists the groups that need attention first', () => {
  const pods = [
    member('r', { group: 'runs', spec: { nodeName: 'n' } }),
    member('w', { group: 'waits' }),
    member('x', { group: 'blocked' }),
  ]
  const found = gangs([group('runs', 1), group('blocked', 1), group('waits', 2), group('empty', 1)], pods, [
    waiting('w', 1),
    noNode('x', 2),
  ])
  expect(found.map(({ name, state }) => [name, state])).toEqual([
    ['waits', 'waiting'],
    ['blocked', 'rejected'],
    ['empty', 'tooFew'],
    ['runs', 'running'],
  ])
  expect(filterGangs(found, 'ml wait').map(({ name }) => name)).toEqual(['waits'])
})

describe('stagesOf', () => {
  const stages = (summary: Summary | undefined, system: 'coscheduling' | 'native' = 'coscheduling') =>
    Object.values(stagesOf(memberOf(member('a'), summary, system)))
  it.each([
    ['before its first attempt', undefined, ['notRun', 'notRun', 'notRun', 'notRun', 'notRun']],
    ['rejected in PreFilter', tooFew('a', 1), ['rejected', 'notRun', 'rejected', 'notRun', 'notRun']],
    ['without a node', noNode('a', 1), ['passed', 'rejected', 'rejected', 'notRun', 'notRun']],
    [
      'with a nomination',
      { ...noNode('a', 1), nominatedNode: 'n' },
      ['passed', 'rejected', 'passed', 'notRun', 'notRun'],
    ],
    ['waiting', waiting('a', 1), ['passed', 'passed', 'notRun', 'passed', 'waiting']],
    ['sent back', sentBack('a', 1), ['passed', 'passed', 'notRun', 'undone', 'rejected']],
    ['scheduled', scheduled('a', 1), ['passed', 'passed', 'notRun', 'passed', 'passed']],
  ])('of a member %s', (_, summary, want) => {
    expect(stages(summary)).toEqual(want)
  })
  it('of a simulated member undo the reservation', () => {
    expect(stages(attempt('a', 1, { outcome: 'unschedulable', selectedNode: 'n' }), 'native')).toEqual([
      'passed',
      'passed',
      'notRun',
      'undone',
      'notRun',
    ])
  })
})
