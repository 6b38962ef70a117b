import { mount } from '@vue/test-utils'
import { expect, test } from 'vitest'
import { i18n } from '@/i18n'
import PluginPanics from './PluginPanics.vue'

test('names the plugin and the call, and holds the stack', () => {
  const panics = [
    { plugin: 'Quota', call: 'Filter', value: 'index out of range', stack: 'main.(*quota).Filter(...)', count: 3 },
    { plugin: 'Quota', call: 'Unreserve', value: 'nil map', stack: 'main.(*quota).Unreserve(...)', count: 1 },
  ]
  const shown = mount(PluginPanics, { props: { panics }, global: { plugins: [i18n] } })
  const [filter, unreserve] = shown.findAll('.note')
  expect(filter?.text()).toContain('Quota in Filter')
  expect(filter?.text()).toContain('3 calls')
  expect(filter?.find('pre').text()).toBe('main.(*quota).Filter(...)')
  expect(unreserve?.text()).toContain('nil map')
  expect(unreserve?.text()).not.toContain('call')
})
