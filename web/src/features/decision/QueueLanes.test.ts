import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { i18n } from '@/i18n'
import QueueLanes from './QueueLanes.vue'

it('has a lane for pods that wait in Permit, with the plugins that hold them', () => {
  const queues = [
    { queue: 'active' as const, pods: 2, events: [{ event: 'UnscheduledPodAdd', count: 9 }] },
    { queue: 'gated' as const, pods: 1, events: [] },
  ]
  const wrapper = mount(QueueLanes, {
    props: { queues, waiting: { pods: 3, by: [{ plugin: 'example.com/gang', pods: 3 }] } },
    global: { plugins: [i18n] },
  })
  expect(wrapper.findAll('li').map((li) => li.text().replace(/\s+/g, ' '))).toEqual([
    'activeQready to schedule2UnscheduledPodAdd 9',
    'gatedPreEnqueue1',
    'waitingPermit3example.com/gang 3',
  ])
  expect(wrapper.get('h2').text()).toContain('6')
})

it('shows the parts for members of pod groups unless they are empty', () => {
  const queues = (['active', 'backoff', 'unschedulable', 'gated', 'incomplete', 'pending'] as const).map((queue) => ({
    queue,
    pods: queue === 'incomplete' ? 2 : 0,
    events: [],
  }))
  const wrapper = mount(QueueLanes, { props: { queues, waiting: { pods: 0, by: [] } }, global: { plugins: [i18n] } })
  expect(wrapper.findAll('li').map((li) => li.attributes('data-lane'))).toEqual([
    'active',
    'backoff',
    'unschedulable',
    'gated',
    'incomplete',
    'waiting',
  ])
})

// The feed counts attempts that were unschedulable, and the lane pods.
it('calls the lane of pods so, and separates thousands', () => {
  const queues = [
    { queue: 'unschedulable' as const, pods: 1523, events: [{ event: 'ScheduleAttemptFailure', count: 4567 }] },
  ]
  const wrapper = mount(QueueLanes, { props: { queues, waiting: { pods: 0, by: [] } }, global: { plugins: [i18n] } })
  expect(wrapper.get('[data-lane="unschedulable"] b').text()).toBe('unschedulable pods')
  expect(wrapper.text().match(/\d[\d,]*/g)).toEqual(['1,523', '1,523', '4,567', '0'])
})
