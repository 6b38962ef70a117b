import { mount } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import { holdersOf } from './model/preEnqueue'
import { pod } from '@/kubernetes/testing'
import { i18n } from '@/i18n'
import PreEnqueueHold from './PreEnqueueHold.vue'

const stubs = { RouterLink: { template: '<a><slot /></a>' } }
afterEach(() => vi.unstubAllGlobals())

it('names the plugin that holds the pod, and removes one gate and keeps the others', async () => {
  const sent: [string, unknown][] = []
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    sent.push([path, JSON.parse(String(init.body))])
    return Promise.resolve(new Response('{}', { headers: { 'Content-Type': 'application/json' } }))
  })
  const held = pod('p', { schedulingGates: [{ name: 'a' }, { name: 'b' }] })
  const wrapper = mount(PreEnqueueHold, { props: { pod: held, holders: holdersOf(held, []) }, global: { plugins: [i18n], stubs } })
  expect(wrapper.get('.s1').text()).toBe('p has not been tried: SchedulingGates holds it in PreEnqueue.')
  await wrapper.get('[aria-label="Remove gate a"]').trigger('click')
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  expect(sent[0]?.[0]).toContain('/namespaces/default/pods/p')
  expect(sent[0]?.[1]).toEqual({ spec: { schedulingGates: [{ name: 'b' }] } })
})

it('shows what another plugin waits for', () => {
  const member = pod('m', { schedulingGroup: { podGroupName: 'ring' } })
  const answers = [{ plugin: 'GangScheduling', status: 'UnschedulableAndUnresolvable' as const, reasons: ['waiting for minCount pods'], durationSeconds: 0 }]
  const wrapper = mount(PreEnqueueHold, { props: { pod: member, holders: holdersOf(member, answers) }, global: { plugins: [i18n], stubs } })
  expect(wrapper.get('.quote').text()).toBe('waiting for minCount pods')
  expect(wrapper.get('.by').text()).toContain('The pod group ring must exist')
})
