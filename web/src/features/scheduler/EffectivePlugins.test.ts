import { mount } from '@vue/test-utils'
import { beforeAll, expect, it, vi } from 'vitest'
import type { Effective } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import EffectivePlugins from './EffectivePlugins.vue'

const effective = (revision: number, weight: number): Effective => ({
  revision,
  global: [],
  profiles: [
    {
      schedulerName: 'default-scheduler',
      extensionPoints: [
        {
          name: 'score',
          plugins: [
            { name: 'NodeAffinity', weight: 2, source: 'default', viaMultiPoint: true },
            { name: 'NodeResourcesFit', weight, source: weight === 1 ? 'default' : 'user', viaMultiPoint: true },
          ],
          disabled: [],
        },
      ],
      plugins: [],
    },
  ],
  extenders: [],
  difference: [],
  noEffect: [],
})
const show = (props: Partial<InstanceType<typeof EffectivePlugins>['$props']>) =>
  mount(EffectivePlugins, {
    props: {
      running: effective(4, 1),
      draft: undefined,
      shown: 'draft',
      profile: '',
      only: 'all',
      open: '',
      plugin: '',
      ...props,
    },
    global: { plugins: [i18n] },
  })
beforeAll(loadDeferredMessages)
const fit = (wrapper: ReturnType<typeof show>) =>
  wrapper.get('[data-plugin="NodeResourcesFit"] .c').text().replace(/\s+/g, ' ')

it('shows the running configuration while there is no draft', () => {
  const wrapper = show({})
  expect(fit(wrapper)).toBe('1')
  expect(wrapper.get('h2').text()).toContain('revision 4, running')
  expect(wrapper.find('[data-testid="effective-of"]').exists()).toBe(false)
})

it('shows the draft and its differences from the running configuration', async () => {
  const wrapper = show({ draft: { effective: effective(0, 5), state: 'valid' } })
  expect(fit(wrapper)).toBe('5 (running: 1)')
  expect(wrapper.get('[data-testid="effective-note"]').text()).toBe('1 plugin differs from running.')
  await wrapper.setProps({ shown: 'running' })
  expect(fit(wrapper)).toBe('1')
  expect(wrapper.get('[data-testid="effective-note"]').text()).toContain('These plugins are running now')
})

it('keeps the last valid draft, and shows the running configuration before the first', async () => {
  const wrapper = show({ draft: { effective: effective(0, 5), state: 'invalid' } })
  expect(wrapper.get('h2').text()).toContain('last valid draft')
  await wrapper.setProps({ draft: { effective: undefined, state: 'invalid' } })
  expect(fit(wrapper)).toBe('1')
  expect(wrapper.get('[data-testid="effective-note"]').text()).toBe(
    'The draft has errors. These plugins are running now.'
  )
})

it('sets weights and switches, and shows them until the server has read them', async () => {
  const dial = vi.fn()
  const wrapper = show({ defaults: effective(0, 1), onDial: dial })
  const slider = () => wrapper.get('[data-plugin="NodeResourcesFit"] [role="slider"]')
  await slider().trigger('keydown', { key: 'ArrowRight' })
  const what = { plugin: 'NodeResourcesFit', point: 'score', profile: 'default-scheduler', usual: 1 }
  expect(dial).toHaveBeenLastCalledWith(what, 2)
  await wrapper.setProps({ dialed: new Map([['default-scheduler/score/NodeResourcesFit', 2]]) })
  expect(slider().attributes('aria-valuenow')).toBe('2')
  await slider().trigger('keydown', { key: '0' })
  expect(dial).toHaveBeenLastCalledWith(what, 0)
  await slider().trigger('keydown', { key: 'Backspace' })
  expect(dial).toHaveBeenLastCalledWith(what, 1)
  await wrapper.setProps({ locked: true })
  await slider().trigger('keydown', { key: 'ArrowRight' })
  expect(dial).toHaveBeenCalledTimes(3)
})
