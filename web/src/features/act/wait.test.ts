import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { ApiError } from '@/api/http'
import * as simulator from '@/api/simulator'
import type { Pod, QueueWait } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { node, pod } from '@/kubernetes/testing'
import { connection, now } from '@/live/status'
import { nodes, pods } from '@/live/watched'
import { notices } from '@/ui/notices'
import NodeWait from './NodeWait.vue'
import PodWait from './PodWait.vue'
import { asked } from './store/asked'

vi.mock('@/api/simulator')
const server = vi.mocked(simulator)
const start = Date.parse('2026-01-02T03:00:00Z')
const pass = async (seconds: number) => {
  now.value = start + seconds * 1000
  await nextTick()
}
const waits = (waiting?: QueueWait) =>
  server.getAttempts.mockResolvedValue({ items: [], ...(waiting ? { waiting } : {}) })
async function shown(of: Pod) {
  const wrapper = mount(PodWait, { props: { pod: of }, global: { plugins: [i18n] } })
  await flushPromises()
  return wrapper
}

beforeEach(async () => {
  await loadDeferredMessages()
  vi.useFakeTimers()
  connection.value = { kind: 'live' }
  now.value = start
})
afterEach(() => {
  vi.useRealTimers()
  vi.resetAllMocks()
  nodes.value = { items: new Map(), synced: true, error: undefined }
  pods.value = { items: new Map(), synced: true, error: undefined }
  asked.value = undefined
  notices.value = []
})

describe('a pending pod', () => {
  const pending = pod(
    'late',
    {},
    { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
    { uid: 'u' }
  )

  it('counts down to its next attempt, and is tried now on request', async () => {
    waits({ queue: 'unschedulable', until: '2026-01-02T03:04:12Z' })
    const line = await shown(pending)
    expect(line.text()).toContain('Without one, next attempt in 4:12.')
    await pass(244)
    expect(line.text()).toContain('next attempt in 8 s.')
    await pass(300)
    expect(line.text()).toContain('Next attempt within seconds.')
    waits()
    await line.get('button').trigger('click')
    await flushPromises()
    expect(server.tryNow.mock.calls).toEqual([['u']])
    expect([line.text(), notices.value.map((n) => n.text)]).toEqual(['', ['The scheduler tries late now.']])
  })
  it('says why it is not tried', async () => {
    waits({ queue: 'backoff', until: '2026-01-02T03:00:08Z' })
    server.tryNow.mockRejectedValue(new Error('it does not wait'))
    const line = await shown(pending)
    expect(line.text()).toContain('In backoff: next attempt in 8 s.')
    await line.get('button').trigger('click')
    await flushPromises()
    expect(notices.value.map(({ kind, text }) => [kind, text])).toEqual([['failed', 'it does not wait']])
  })
  it('is not asked about before it was tried, nor again when the server knows nothing of it', async () => {
    await shown(pod('new', {}, {}, { uid: 'u' }))
    await shown(
      pod(
        'gated',
        {},
        { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
        { uid: 'u' }
      )
    )
    await vi.advanceTimersByTimeAsync(5000)
    expect(server.getAttempts).not.toHaveBeenCalled()
    server.getAttempts.mockRejectedValue(new ApiError('there are no results', 404))
    await shown(pending)
    await vi.advanceTimersByTimeAsync(5000)
    expect(server.getAttempts).toHaveBeenCalledOnce()
  })
  it('notices by itself that an event has ended the wait', async () => {
    waits({ queue: 'unschedulable' })
    const line = await shown(pending)
    expect(line.text()).toContain('Waits for an event that may help.')
    waits()
    await vi.advanceTimersByTimeAsync(2100)
    expect(line.text()).toBe('')
  })
})

describe('a pod on a node with a NoExecute taint', () => {
  const tolerations = [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ]
  const running = pod(
    'web',
    { nodeName: 'n', tolerations },
    { phase: 'Running' },
    { uid: 'u', creationTimestamp: '2026-01-02T02:00:00Z' }
  )
  const tainted = {
    ...node('n'),
    spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded: '2026-01-02T02:59:12Z' }] },
  }
  beforeEach(() => {
    nodes.value = { items: new Map([['n', tainted]]), synced: true, error: undefined }
    pods.value = { items: new Map([['default/web', running]]), synced: true, error: undefined }
  })

  it('counts down to its eviction, and asks before it is evicted now', async () => {
    const line = await shown(running)
    expect(line.text()).toContain(
      'Evicted in 4:12: the pod tolerates the taint node.kubernetes.io/not-ready:NoExecute of its node for 5m.'
    )
    expect(server.getAttempts).not.toHaveBeenCalled()
    await line.get('button').trigger('click')
    expect(asked.value).toMatchObject({ verb: 'evict', refs: [{ name: 'web', namespace: 'default' }] })
  })
  it('is counted at its node', async () => {
    const line = mount(NodeWait, { props: { node: tainted }, global: { plugins: [i18n] } })
    expect(line.text()).toContain('web will be evicted in 4:12.')
    pods.value = {
      items: new Map([
        ['default/web', running],
        ['default/db', pod('db', { ...running.spec }, running.status, { creationTimestamp: '2026-01-02T02:59:22Z' })],
      ]),
      synced: true,
      error: undefined,
    }
    await pass(12)
    expect(line.text()).toContain('2 pods will be evicted, the first in 4:00.')
    await line.get('button').trigger('click')
    expect(asked.value?.refs.map((r) => r.name)).toEqual(['web', 'db'])
  })
  it('says nothing once it is deleted', async () => {
    const line = await shown({
      ...running,
      metadata: { ...running.metadata, deletionTimestamp: '2026-01-02T03:00:00Z' },
    })
    expect(line.text()).toBe('')
  })
})
