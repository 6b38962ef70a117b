import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { shallowRef } from 'vue'
import * as simulator from '@/api/simulator'
import type { Cycle, Pod, Status, Summary } from '@/api/types'
import { pod as makePod } from '@/kubernetes/testing'
import { connection, status } from '@/live/status'
import { pods, results } from '@/live/watched'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { sampleCycle } from './model/testing'
import { useAttemptCycles, type AttemptCycles } from './useAttemptCycles'
import { useAttempts, type Attempts } from './useAttempts'
import { useUntriedPod, type UntriedPod } from './useUntriedPod'

const server = mockFunctions(simulator)

const summary = (attempt: number, uid = 'u', more: Partial<Summary> = {}): Summary =>
  ({ ...sampleCycle(), pod: { namespace: 'shop', name: 'web', uid }, attempt, ...more }) as Summary
const routes = [{ path: '/decisions/:namespace/:name', name: 'decision' }]
const query = () => page.router.currentRoute.value.query

let page: Running<Attempts & AttemptCycles & UntriedPod>
let stored: Summary[]
async function open(at = '') {
  page = await withSetup(
    () => {
      const attempts = useAttempts()
      const cycle = shallowRef<Cycle | undefined>(sampleCycle({ attempt: 2 }))
      return { ...attempts, ...useAttemptCycles(cycle, attempts), ...useUntriedPod(attempts) }
    },
    { at: `/decisions/shop/web${at}`, routes }
  )
  await flushPromises()
}
const show = (pod: Pod | undefined) => {
  pods.value = { items: new Map(pod ? [['shop/web', pod]] : []), synced: true, error: undefined }
}
const webPod = (spec: Pod['spec'] = {}, more: Pod['status'] = {}) =>
  makePod('web', spec, more, { namespace: 'shop', uid: 'u', resourceVersion: '1' })

beforeEach(() => {
  stored = [summary(1), summary(2), summary(3)]
  server.getAttempts.mockImplementation(() => Promise.resolve({ items: stored }))
  server.getCycle.mockImplementation((_uid, attempt) => Promise.resolve(sampleCycle({ attempt })))
  server.listResults.mockImplementation(() => Promise.resolve({ items: stored.slice(-1), continue: '' }))
  connection.value = { kind: 'live' }
  show(webPod())
})
afterEach(() => {
  page.unmount()
  results.value = { items: [], synced: true }
  status.value = undefined
  vi.resetAllMocks()
})

describe('the attempts of a pod', () => {
  it('show the newest one, and move on to the next one when it arrives', async () => {
    await open()
    expect([page.value.attempts.value.length, page.value.current.value?.attempt]).toEqual([3, 3])
    results.value = { items: [summary(4), summary(3, 'other')], synced: true }
    expect([page.value.attempts.value.length, page.value.current.value?.attempt]).toEqual([4, 4])
  })

  it('stay at the one in the URL', async () => {
    await open('?attempt=2')
    results.value = { items: [summary(4)], synced: true }
    expect(page.value.current.value?.attempt).toBe(2)
    page.value.choose(4)
    await flushPromises()
    expect([query().attempt, page.value.current.value?.attempt]).toEqual([undefined, 4])
  })

  it('report that the one in the URL is no longer stored', async () => {
    await open('?attempt=9')
    expect([page.value.gone.value, page.value.current.value]).toEqual([true, undefined])
    page.value.showNewest()
    await flushPromises()
    expect([page.value.gone.value, page.value.current.value?.attempt]).toEqual([false, 3])
  })

  it('are those of the pod in the URL, even if another one has its name now', async () => {
    stored = [summary(1, 'old')]
    await open('?uid=old')
    expect(server.getAttempts).toHaveBeenCalledWith('old')
    expect(page.value.attempts.value.map((a) => a.pod.uid)).toEqual(['old'])
  })

  it('stay when the server is gone, and are requested again when it is back', async () => {
    await open()
    server.getAttempts.mockRejectedValueOnce(new Error('gone'))
    connection.value = { kind: 'connecting' }
    await flushPromises()
    expect([page.value.error.value, page.value.attempts.value.length]).toEqual([new Error('gone'), 3])
    connection.value = { kind: 'live' }
    await flushPromises()
    expect(page.value.error.value).toBeUndefined()
  })
})

describe('comparing attempts', () => {
  it('shows the differences, swaps the two attempts, and ends', async () => {
    await open('?attempt=2')
    page.value.compare(3)
    await flushPromises()
    expect(page.value.difference.value).toMatchObject({ from: 3, to: 2 })
    page.value.swap()
    await flushPromises()
    expect(query()).toEqual({ compare: '2' })
    expect([page.value.current.value?.attempt, page.value.comparedWith.value?.attempt]).toEqual([3, 2])
    page.value.compare('')
    await flushPromises()
    expect([query().compare, page.value.difference.value]).toEqual([undefined, undefined])
  })

  it('ends when the other attempt is chosen', async () => {
    await open('?attempt=2&compare=1')
    page.value.choose(1)
    await flushPromises()
    expect(query()).toEqual({ attempt: '1' })
  })

  it('fetches the cycles of the other attempts, and finds the next one', async () => {
    await open('?attempt=2')
    await vi.waitFor(() => expect([...page.value.cycles.value.keys()].sort()).toEqual([1, 2, 3]))
    expect(page.value.laterAttempts.value.map((a) => a.attempt)).toEqual([3])
  })
})

describe('a pod without an attempt', () => {
  beforeEach(() => {
    stored = []
  })

  it('shows the plugins that hold it', async () => {
    server.getAttempts.mockResolvedValue({
      items: [],
      held: [{ plugin: 'MyQueue', status: 'UnschedulableAndUnresolvable', reasons: ['closed'], durationSeconds: 0 }],
    })
    await open()
    expect(page.value.missing.value).toBe(true)
    expect(page.value.holders.value).toEqual([{ plugin: 'MyQueue', reasons: ['closed'], lift: { kind: 'event' } }])
  })

  it('shows the reason in the pod’s own fields if the server does not respond', async () => {
    server.getAttempts.mockRejectedValue(new Error('gone'))
    show(webPod({ schedulingGates: [{ name: 'wait' }] }))
    await open()
    expect(page.value.holders.value.map((h) => h.lift)).toEqual([{ kind: 'gates', gates: ['wait'] }])
  })

  it('shows a different reason for each case', async () => {
    await open()
    const untried = page.value.reason.value
    show(webPod({ nodeName: 'n1' }))
    expect(page.value.reason.value).toContain('n1')
    show(webPod({ schedulerName: 'other' }))
    status.value = { scheduler: { profiles: ['default-scheduler'] } } as unknown as Status
    expect(page.value.reason.value).toContain('other')
    show(undefined)
    expect(page.value.reason.value).toContain('shop/web')
    show(webPod({}, { conditions: [{ type: 'PodScheduled', status: 'False', message: 'no room at all' }] }))
    expect(page.value.reason.value).toContain('no room at all')
    expect(untried).not.toContain('no room')
  })
})
