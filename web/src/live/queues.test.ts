import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope } from 'vue'
import type { Queues } from '@/api/types'
import type { Handlers } from '@/api/watch'
import { useQueues } from './queues'
import { watch } from './watched'

const active = (pods: number): Queues => ({
  queues: [{ queue: 'active', pods, events: [{ event: 'PodAdd', count: 12 }] }],
})

let handlers: Handlers<Queues>
const stop = vi.fn()
beforeEach(() => {
  stop.mockClear()
  vi.spyOn(watch, 'subscribe').mockImplementation((id, target, given) => {
    expect([id, target]).toEqual(['queues', { topic: 'queues' }])
    handlers = given as Handlers<Queues>
    return stop
  })
})
afterEach(() => {
  vi.restoreAllMocks()
})

it('holds the newest state of the queue', () => {
  const scope = effectScope()
  scope.run(() => {
    const { queues, asked } = useQueues()
    expect([queues.value, asked.value]).toEqual([undefined, false])
    handlers.frame({ type: 'list', id: 'queues', first: true, items: [active(3)] })
    expect([queues.value?.[0]?.pods, asked.value]).toEqual([3, true])
    handlers.frame({
      type: 'events',
      id: 'queues',
      events: [1, 2].map((pods) => ({ type: 'MODIFIED', object: active(pods) })),
    })
    expect(queues.value?.[0]?.pods).toBe(2)
  })
  scope.stop()
})

it('distinguishes a server without a queue from one that has not responded yet', () => {
  const scope = effectScope()
  scope.run(() => {
    const { queues, asked } = useQueues()
    handlers.error?.({ type: 'error', id: 'queues', message: 'not known', code: 501 })
    expect([queues.value, asked.value]).toEqual([undefined, true])
  })
  scope.stop()
})

it('subscribes once, for as long as a component uses it', () => {
  const [first, second] = [effectScope(), effectScope()]
  first.run(useQueues)
  second.run(useQueues)
  expect(watch.subscribe).toHaveBeenCalledTimes(1)
  first.stop()
  expect(stop).not.toHaveBeenCalled()
  second.stop()
  expect(stop).toHaveBeenCalledTimes(1)
})
