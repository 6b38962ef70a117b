import { expect, it } from 'vitest'
import { parse } from 'yaml'
import type { DescheduleAnswer, DescheduleEviction, DescheduleRound } from '@/api/types'
import {
  changedNodes,
  everyRound,
  examples,
  fateOf,
  rebalanceCommand,
  rebalanceOf,
  rebalanceScenario,
  shareOf,
  tried,
  variantsOf,
} from './rebalance'

it('asks about a policy, and once unless told otherwise', () => {
  expect(rebalanceOf({ policy: ' ', rounds: '' })).toBeUndefined()
  expect(rebalanceOf({ policy: 'a', rounds: '1' })).toEqual({ policy: 'a' })
  expect(rebalanceOf({ policy: 'a', rounds: 'x' })).toEqual({ policy: 'a' })
  expect(rebalanceOf({ policy: 'a', rounds: '3' })).toEqual({ policy: 'a', rounds: 3 })
})

it('says the same to the command line and to a workspace', () => {
  expect(rebalanceCommand({ policy: 'a' })).toBe('simulator deschedule --dry-run --policy policy.yaml')
  expect(rebalanceCommand({ policy: 'a', rounds: 3 })).toBe(
    'simulator deschedule --dry-run --policy policy.yaml --rounds 3'
  )
  expect(rebalanceScenario({ kind: 'DeschedulerPolicy' }, 3)).toMatchObject({
    steps: [{ deschedule: { policy: { kind: 'DeschedulerPolicy' }, rounds: 3 } }],
  })
})

it('tells apart a replacement that comes back', () => {
  const eviction = { fate: 'moves', node: 'a', to: 'b' } as DescheduleEviction
  expect(fateOf(eviction)).toBe('moves')
  expect(fateOf({ ...eviction, to: 'a' })).toBe('back')
  expect(fateOf({ ...eviction, fate: 'pending', to: undefined })).toBe('pending')
})

it('shows the nodes that change', () => {
  const a = { name: 'a', before: { pods: 2, cpu: 50 }, after: { pods: 1, cpu: 25.4 } }
  const b = { name: 'b', before: { pods: 1 }, after: { pods: 1 } }
  expect(changedNodes({ nodes: [a, b] }).map(({ name }) => name)).toEqual(['a'])
  expect(shareOf(a.after, 'cpu')).toBe(25)
  expect(shareOf(b.after, 'cpu')).toBeUndefined()
})

it('has examples that enable the plugin that they configure', () => {
  for (const text of Object.values(examples)) {
    const [profile] = parse(text).profiles
    expect(profile.pluginConfig.map(({ name }: { name: string }) => name)).toContain(profile.plugins.balance.enabled[0])
  }
})

const eviction = (of: Partial<DescheduleEviction>) =>
  ({ round: 1, name: 'p', fate: 'moves', node: 'a', to: 'b', plugin: 'RemoveDuplicates', ...of }) as DescheduleEviction

it('asks about other policies only if evictions are in vain', () => {
  const policy = `# mine
profiles:
- name: default
  pluginConfig:
  - name: PodLifeTime
    args: {maxPodLifeTimeSeconds: 60}
  plugins:
    balance: {enabled: [RemoveDuplicates]}
    deschedule: {enabled: [PodLifeTime]}
`
  expect(variantsOf(policy, { evictions: [eviction({})] })).toEqual([])
  const [fit, without, ...rest] = variantsOf(policy, {
    evictions: [eviction({ plugin: 'PodLifeTime', to: 'a' }), eviction({})],
  })
  expect(rest).toEqual([])
  expect(fit).toMatchObject({ by: 'nodeFit' })
  expect(fit?.policy).toContain('# mine')
  expect(parse(fit?.policy ?? '')).toMatchObject({
    profiles: [{ pluginConfig: [{ name: 'PodLifeTime' }, { name: 'DefaultEvictor', args: { nodeFit: true } }] }],
  })
  expect(without).toMatchObject({ by: 'without', plugin: 'PodLifeTime' })
  expect(parse(without?.policy ?? '')).toMatchObject({
    profiles: [
      { pluginConfig: [], plugins: { balance: { enabled: ['RemoveDuplicates'] }, deschedule: { enabled: [] } } },
    ],
  })
})

it('asks about no policy that evicts by no plugin, nor about the same again', () => {
  const evictions = [eviction({ plugin: 'LowNodeUtilization', fate: 'pending', to: undefined })]
  expect(variantsOf(examples.relieve, { evictions })).toEqual([])
})

it('calls a policy better that evicts less in vain and moves no pod less', () => {
  const answer = (moved: number, back: number, pending = 0, gone = 0) =>
    ({ summary: { moved, back, pending, gone } }) as DescheduleAnswer
  const [variant] = variantsOf('profiles: [{name: a}]', { evictions: [eviction({ to: 'a' })] })
  if (!variant) throw new Error('no variant')
  const better = (of: DescheduleAnswer) => tried(variant, of, answer(2, 3, 1)).better
  expect(better(answer(2, 0, 1))).toBe(true)
  expect(better(answer(2, 3, 1))).toBe(false)
  expect(better(answer(1, 0, 0))).toBe(false)
  expect(better(answer(2, 0, 2))).toBe(false)
  expect(better(answer(2, 0, 0, 1))).toBe(false)
})

it('names what each round evicts', () => {
  const rounds = [{}, {}] as DescheduleRound[]
  const evictions = [
    eviction({ owner: 'ReplicaSet etl', name: 'etl-1' }),
    eviction({ owner: 'ReplicaSet web', name: 'web-1' }),
    eviction({ owner: 'ReplicaSet etl', name: 'etl-2', round: 2 }),
  ]
  expect(everyRound({ evictions, rounds })).toEqual(['ReplicaSet etl'])
  expect(everyRound({ evictions, rounds: rounds.slice(1) })).toEqual([])
})
