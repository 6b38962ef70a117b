import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as api from '@/api/timeline'
import { node, pod } from '@/kubernetes/testing'
import { showsPast } from '@/live/shownMoment'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { clock } from './model/testing'
import { usePast, type Past } from './usePast'

const server = mockFunctions(api)
const moment = (n: number, nodes: string[]): api.Moment => ({
  moment: n,
  time: clock(n),
  nodes: nodes.map((name) => node(name)),
  pods: [pod(`p${n}`, { nodeName: nodes[0] })],
  counts: { nodes: nodes.length, pods: 1, pending: 0 },
})

let page: Running<Past>
async function open(at: string) {
  page = await withSetup(usePast, { at })
  await flushPromises()
}
const query = () => page.router.currentRoute.value.query
const names = () => page.value.view.value.nodes.map(({ name }) => name)

beforeEach(() => {
  server.getMoment.mockImplementation((at) =>
    Promise.resolve(at === '20' || at === clock(20) ? moment(20, ['n1', 'n2']) : moment(10, ['n1']))
  )
})
afterEach(() => {
  page.unmount()
  vi.clearAllMocks()
})

describe('the past', () => {
  it('is not shown without a moment, and nothing is asked', async () => {
    await open('/timeline')
    expect([page.value.past.value, showsPast.value, server.getMoment.mock.calls.length]).toEqual([false, false, 0])
  })
  it('is the cluster of the moment in the URL, at its time', async () => {
    await open('/timeline?at=20')
    expect([page.value.past.value, showsPast.value, names(), page.value.time.value]).toEqual([
      true,
      true,
      ['n1', 'n2'],
      Date.parse(clock(20)),
    ])
  })
  it('has its playhead at the time in the URL, before and after the answer', async () => {
    await open(`/timeline?at=${clock(15)}`)
    expect([page.value.time.value, page.value.moment.value?.moment]).toEqual([Date.parse(clock(15)), 10])
  })
  it('ends when the page is left', async () => {
    await open('/timeline?at=20')
    page.unmount()
    expect(showsPast.value).toBe(false)
    await open('/timeline')
  })
  it('is a step of the browser’s history to enter and to leave, not to move in', async () => {
    await open('/timeline')
    page.value.go('10')
    await flushPromises()
    page.value.go('20')
    await flushPromises()
    expect(query()).toMatchObject({ at: '20' })
    page.router.back()
    await flushPromises()
    expect(query().at).toBeUndefined()
  })
  it('compares two moments on the map', async () => {
    await open('/timeline?from=10&at=20')
    const change = page.value.change.value
    expect([
      change?.nodes.map(({ name }) => [name, change.byName.get(name)?.kind]),
      page.value.before.value?.nodes.length,
    ]).toEqual([
      [
        ['n1', 'changed'],
        ['n2', 'added'],
      ],
      1,
    ])
  })
  it('is what the scheduler saw for a decision', async () => {
    server.getMomentOfDecision.mockResolvedValue({ moment: 20, time: clock(20) })
    await open('/timeline?decision=u1/3')
    await flushPromises()
    expect([server.getMomentOfDecision.mock.calls[0]?.slice(0, 2), query(), names()]).toEqual([
      ['u1', 3],
      { decision: 'u1/3', at: clock(20) },
      ['n1', 'n2'],
    ])
  })
  it('asks once for a moment that was shown before', async () => {
    await open('/timeline?at=10')
    for (const at of ['20', '10', '20']) {
      page.value.go(at)
      await flushPromises()
    }
    expect(server.getMoment.mock.calls.map(([at]) => at)).toEqual(['10', '20'])
  })
  it('names the error of a moment that is gone, and asks again', async () => {
    server.getMoment.mockRejectedValueOnce(new Error('dropped'))
    await open('/timeline?at=10')
    expect(page.value.error.value).toEqual(new Error('dropped'))
    page.value.retry()
    await flushPromises()
    expect([page.value.error.value, names()]).toEqual([undefined, ['n1']])
  })
})
