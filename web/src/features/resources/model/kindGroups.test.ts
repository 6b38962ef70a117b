import { expect, it } from 'vitest'
import type { KindInfo } from '@/api/types'
import { groupKinds, kindOfSlug } from './kindGroups'

const of = (resource: string, group = ''): KindInfo => ({
  group,
  version: 'v1',
  kind: resource,
  resource,
  namespaced: true,
  verbs: [],
})
const [pods, nodes, jobs, events, events2] = [
  of('pods'),
  of('nodes'),
  of('jobs', 'batch'),
  of('events', 'events.k8s.io'),
  of('events'),
]
const kinds = [events, jobs, nodes, pods, events2]

it('lists starred kinds in the order of their stars, without those that the cluster does not serve', () => {
  expect(groupKinds(kinds, ['nodes', 'jobs.batch', 'widgets.example.com'], '')).toEqual({
    starred: [nodes, jobs],
    others: [events, pods, events2],
  })
})

it('finds kinds by resource, group or kind, in any case', () => {
  expect(groupKinds(kinds, ['nodes'], 'BATCH')).toEqual({ starred: [], others: [jobs] })
  expect(groupKinds(kinds, ['nodes'], 'od')).toEqual({ starred: [nodes], others: [pods] })
})

it('prefers a complete slug to a resource that several groups serve', () => {
  expect(kindOfSlug(kinds, 'events.events.k8s.io')).toBe(events)
  expect(kindOfSlug(kinds, 'events')).toBe(events2)
  expect(kindOfSlug(kinds, 'jobs')).toBe(jobs)
  expect(kindOfSlug(kinds, 'widgets')).toBeUndefined()
})
