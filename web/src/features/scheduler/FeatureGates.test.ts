import { mount, type DOMWrapper } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { shallowRef } from 'vue'
import type { FeatureGate } from '@/api/types'
import { i18n } from '@/i18n'
import * as configuration from '@/live/configurationInForce'
import { mockFunctions } from '@/ui/testing'
import FeatureGates from './FeatureGates.vue'

const gates: FeatureGate[] = [
  { name: 'GenericWorkload', stage: 'ALPHA', default: false, enabled: true, locked: false },
  { name: 'SchedulerQueueingHints', stage: 'GA', default: true, enabled: true, locked: true },
  { name: 'SchedulerAsyncPreemption', stage: 'BETA', default: true, enabled: false, locked: false },
]
mockFunctions(configuration, 'readFeatureGates').readFeatureGates.mockReturnValue({
  value: shallowRef(gates),
  error: shallowRef(),
  reload: () => Promise.resolve(true),
  stop: () => {},
})

it('says in words whether a gate is on, and shows nothing that looks like a switch', () => {
  const wrapper = mount(FeatureGates, { global: { plugins: [i18n] } })
  const visible = (li: DOMWrapper<Element>) =>
    li
      .findAll('span')
      .filter((span) => !span.classes('vh'))
      .map((span) => span.text())
      .join(' ')
  expect(wrapper.findAll('li').map(visible)).toEqual([
    'GenericWorkload α on, changed',
    'SchedulerAsyncPreemption β off, changed',
    'SchedulerQueueingHints GA on',
  ])
  expect(wrapper.find('.sw3, [role="switch"], input[type="checkbox"]').exists()).toBe(false)
  // Names are whole: they may break, but are not cut.
  expect(wrapper.find('li .ell').exists()).toBe(false)
})
