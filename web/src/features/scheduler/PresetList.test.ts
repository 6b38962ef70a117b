import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { i18n } from '@/i18n'
import PresetList from './PresetList.vue'

it('lists the given presets and the user’s own with their descriptions, and deletes own ones', async () => {
  const own = [
    { name: 'Slow lane', text: '# Two at a time.\nkind: X\n' },
    { name: 'Bare', text: 'kind: X\nparallelism: 2\n' },
  ]
  const wrapper = mount(PresetList, {
    props: { names: ['default'], own, current: '', currentOwn: 'Bare' },
    global: { plugins: [i18n] },
  })
  expect(
    wrapper
      .findAll('button.p')
      .map((b) => `${b.text().replace(/\s+/g, ' ')}${b.attributes('aria-pressed') === 'true' ? ' *' : ''}`)
  ).toEqual(['DefaultWhat kube-scheduler runs by default', 'Slow laneownTwo at a time.', 'Bareown2 lines *'])
  await wrapper.get('[data-own-preset="Slow lane"]').trigger('click')
  await wrapper.get('[aria-label="Delete preset Bare"]').trigger('click')
  expect(wrapper.emitted('chooseOwn')).toEqual([[own[0]]])
  expect(wrapper.emitted('drop')).toEqual([['Bare']])
})

it('offers the presets that have an example to try, one at a time', async () => {
  const wrapper = mount(PresetList, {
    props: { names: ['default', 'coscheduling'], own: [], current: '', currentOwn: undefined },
    global: { plugins: [i18n] },
  })
  expect(wrapper.findAll('[data-try-preset]').map((b) => b.attributes('data-try-preset'))).toEqual(['coscheduling'])
  await wrapper.get('[data-try-preset]').trigger('click')
  expect(wrapper.emitted('try')).toEqual([['coscheduling']])
  await wrapper.setProps({ trying: 'coscheduling' })
  expect(wrapper.get('[data-try-preset]').attributes('disabled')).toBeDefined()
})
