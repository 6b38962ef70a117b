import { expect, it } from 'vitest'
import { parse } from 'yaml'
import type { DescheduleEviction } from '@/api/types'
import { changedNodes, examples, fateOf, rebalanceCommand, rebalanceOf, rebalanceScenario, shareOf } from './rebalance'

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
