import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { i18n } from '@/i18n'
import WarningStrip from './WarningStrip.vue'

it('shows every warning as long as the server reports it, and cannot be dismissed', async () => {
  const wrapper = mount(WarningStrip, { props: { warnings: [] as string[] }, global: { plugins: [i18n] } })
  // The live region must exist before the first warning, or screen readers do not announce it.
  expect(wrapper.get('[role="status"]').text()).toBe('')
  await wrapper.setProps({ warnings: ['results cannot be written to disk', 'another'] })
  expect(wrapper.findAll('[role="status"] li').map((li) => li.text())).toEqual([
    'results cannot be written to disk',
    'another',
  ])
  expect(wrapper.find('button').exists()).toBe(false)
  await wrapper.setProps({ warnings: [] })
  expect(wrapper.get('[role="status"]').text()).toBe('')
})
