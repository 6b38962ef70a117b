import { mount } from '@vue/test-utils'
import { afterEach, expect, it } from 'vitest'
import { asked } from '@/features/act/store/asked'
import { holdersOf } from './model/preEnqueue'
import { pod } from '@/kubernetes/testing'
import { i18n } from '@/i18n'
import PreEnqueueHold from './PreEnqueueHold.vue'

const stubs = { RouterLink: { template: '<a><slot /></a>' } }
afterEach(() => {
  asked.value = undefined
})

it('names the plugin that holds the pod, and asks before it removes a gate', async () => {
  const held = pod('p', { schedulingGates: [{ name: 'a' }, { name: 'b' }] })
  const wrapper = mount(PreEnqueueHold, {
    props: { pod: held, holders: holdersOf(held, []) },
    global: { plugins: [i18n], stubs },
  })
  expect(wrapper.get('.s1').text()).toBe('p has not been tried: SchedulingGates holds it in PreEnqueue.')
  await wrapper.get('[aria-label="Remove gate a"]').trigger('click')
  expect(asked.value).toMatchObject({
    verb: 'ungate',
    refs: [{ namespace: 'default', name: 'p' }],
    input: { gates: ['a'] },
  })
})

it('shows what another plugin waits for', () => {
  const member = pod('m', { schedulingGroup: { podGroupName: 'ring' } })
  const answers = [
    {
      plugin: 'GangScheduling',
      status: 'UnschedulableAndUnresolvable' as const,
      reasons: ['waiting for minCount pods'],
      durationSeconds: 0,
    },
  ]
  const wrapper = mount(PreEnqueueHold, {
    props: { pod: member, holders: holdersOf(member, answers) },
    global: { plugins: [i18n], stubs },
  })
  expect(wrapper.get('.quote').text()).toBe('waiting for minCount pods')
  expect(wrapper.get('.by').text()).toContain('The pod group ring must exist')
})
