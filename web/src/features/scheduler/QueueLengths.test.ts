import { mount } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import type { Queues } from '@/api/types'
import type { Handlers } from '@/api/watch'
import { i18n } from '@/i18n'
import { connection } from '@/live/status'
import { watch } from '@/live/watched'
import QueueLengths from './QueueLengths.vue'

afterEach(() => {
  vi.restoreAllMocks()
})

it('shows the lengths, or that they are unknown while the server is gone or does not report them', async () => {
  let handlers: Handlers<Queues> | undefined
  vi.spyOn(watch, 'subscribe').mockImplementation((_id, _target, given) => {
    handlers = given as Handlers<Queues>
    return () => {}
  })
  connection.value = { kind: 'live' }
  const wrapper = mount(QueueLengths, { global: { plugins: [i18n] } })
  const said = async () => {
    await nextTick()
    return wrapper.text().replace(/\s+/g, ' ')
  }
  expect(await said()).toContain('Loading')
  handlers?.frame({
    type: 'list',
    id: 'queues',
    items: [
      {
        queues: [
          { queue: 'active', pods: 3, events: [] },
          { queue: 'unschedulable', pods: 1200, events: [] },
          { queue: 'pending', pods: 1, events: [] },
        ],
      },
    ],
  })
  await nextTick()
  expect(wrapper.findAll('dd').map((dd) => dd.text())).toEqual(['3', '0', '1,200', '0'])
  connection.value = { kind: 'retrying', attempt: 1, at: 0 }
  await nextTick()
  expect(wrapper.find('dl').exists()).toBe(false)
  expect(wrapper.find('p').text()).toBe(i18n.global.t('scheduler.queueUnknown'))
})
