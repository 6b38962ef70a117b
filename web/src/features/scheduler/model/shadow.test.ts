import { expect, it } from 'vitest'
import type { PartedBy, ShadowItem, ShadowVerdict } from '@/api/types'
import { byPlugin, listed, sampled, scoreShift, shares } from './shadow'

const filter: PartedBy = { plugin: 'PodTopologySpread', extensionPoint: 'filter', by: 'shadow', node: 'a' }
const item = (verdict: ShadowVerdict, partedBy?: PartedBy): ShadowItem => ({
  pod: { namespace: 'shop', name: verdict, uid: verdict },
  attempt: 1,
  time: '2026-01-02T10:00:00Z',
  profile: 'default-scheduler',
  live: { node: 'a' },
  shadow: { node: 'b' },
  verdict,
  differs: verdict !== 'same' && verdict !== 'asGood',
  ...(partedBy ? { partedBy } : {}),
})
const items = [
  item('elsewhere', filter),
  item('same'),
  item('pending', filter),
  item('asGood'),
  item('elsewhere', { ...filter, plugin: 'NodeResourcesFit', extensionPoint: 'score' }),
]

it('has a share for each verdict that occurs', () => {
  expect(shares({ same: 6, asGood: 0, elsewhere: 3, pending: 1, placed: 0 })).toEqual([
    { verdict: 'same', count: 6, share: 0.6 },
    { verdict: 'elsewhere', count: 3, share: 0.3 },
    { verdict: 'pending', count: 1, share: 0.1 },
  ])
  expect(shares({ same: 0, asGood: 0, elsewhere: 0, pending: 0, placed: 0 })).toEqual([])
})

it('knows which part of the decisions it judged', () => {
  expect([sampled({ judged: 0, skipped: 0 }), sampled({ judged: 80, skipped: 20 })]).toEqual([1, 0.8])
})

it('lists what differs, all of it or one verdict', () => {
  expect(listed(items, '').map((one) => one.verdict)).toEqual(['elsewhere', 'pending', 'elsewhere'])
  expect(listed(items, 'pending').map((one) => one.verdict)).toEqual(['pending'])
  expect(listed(items, 'nonsense')).toHaveLength(3)
})

it('counts the plugins that made the difference', () => {
  expect(byPlugin(items)).toEqual([
    { plugin: 'PodTopologySpread', extensionPoint: 'filter', count: 2 },
    { plugin: 'NodeResourcesFit', extensionPoint: 'score', count: 1 },
  ])
})

it('says how a plugin moved the balance between the two nodes', () => {
  expect(scoreShift({ ...filter, live: [56, 42], shadow: [42, 56] })).toEqual({ live: -14, shadow: 14 })
  expect(scoreShift(filter)).toBeUndefined()
})
