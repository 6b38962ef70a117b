import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { nextTick, shallowRef } from 'vue'
import type { KindInfo, KubeObject } from '@/api/types'
import * as discovery from '@/live/discovery'
import * as watched from '@/live/watched'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { useBrowsedKind, type BrowsedKind } from './useBrowsedKind'

mockFunctions(watched, 'useKind')
const { loadKinds: load } = mockFunctions(discovery, 'loadKinds')
const stop = vi.fn()
const definitions = shallowRef<watched.Published<KubeObject>>({ items: new Map(), synced: true, error: undefined })
const of = (resource: string, kind: string, group = ''): KindInfo => ({
  group,
  version: 'v1',
  kind,
  resource,
  namespaced: true,
  verbs: ['list', 'watch'],
})

let page: Running<BrowsedKind>
const open = async (resource: string) => {
  page = await withSetup(useBrowsedKind, {
    at: `/resources/${resource}`,
    routes: [{ path: '/resources/:resource?', name: 'resources' }],
  })
}
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  vi.mocked(watched.useKind).mockReturnValue({ published: definitions, stop })
  load.mockResolvedValue([])
})
afterEach(() => {
  page.unmount()
  vi.useRealTimers()
  vi.resetAllMocks()
  discovery.kinds.value = []
})

it('shows pods before discovery has finished, and without a kind in the URL', async () => {
  await open('')
  expect([page.value.slug.value, page.value.kind.value?.kind]).toEqual(['pods', 'Pod'])
})

it('follows the URL and the served kinds', async () => {
  await open('jobs.batch')
  expect(page.value.kind.value).toBeUndefined()
  discovery.kinds.value = [of('jobs', 'Job', 'batch'), of('pods', 'Pod')]
  expect(page.value.kind.value?.kind).toBe('Job')
  await page.router.push('/resources/pods')
  expect(page.value.kind.value?.kind).toBe('Pod')
})

it('repeats discovery once a new definition is established', async () => {
  await open('pods')
  load.mockClear()
  const define = (status: string) => {
    definitions.value = {
      ...definitions.value,
      items: new Map([['w', { metadata: { name: 'w' }, status: { conditions: [{ type: 'Established', status }] } }]]),
    }
    return nextTick()
  }
  await define('False')
  await vi.advanceTimersByTimeAsync(1000)
  expect(load).not.toHaveBeenCalled()
  await define('True')
  await vi.advanceTimersByTimeAsync(1000)
  expect(load).toHaveBeenCalledExactlyOnceWith(true)
})

it('stops following definitions when the user leaves the page', async () => {
  await open('pods')
  page.unmount()
  expect(stop).toHaveBeenCalledOnce()
})
