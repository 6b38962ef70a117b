import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { i18n } from '@/i18n'
import { sampleCycle } from './model/testing'
import PipelineStrip from './PipelineStrip.vue'

function step(name: string, cycle: Partial<Cycle>) {
  const strip = mount(PipelineStrip, {
    props: { cycle: sampleCycle(cycle), selected: '' },
    global: { plugins: [i18n] },
  })
  const found = strip.findAll('button').find((b) => b.get('b').text().startsWith(name))
  if (!found) throw new Error(`no step ${name}`)
  return found
}

it('says how many plugins of an extension point rejected the pod', () => {
  const permit = step('Permit', {
    permit: ['A', 'B'].map((plugin) => ({ plugin, status: 'Unschedulable', durationSeconds: 0 })),
  })
  expect(permit.get('.v').text()).toBe('2 of 2 rejected')
})

it('marks the extension point at which an extender failed, also if the scheduler ignored it', () => {
  const failing = {
    plugin: 'http://extender',
    verb: 'filter',
    status: 'Error',
    reasons: ['connection refused'],
    ignored: true,
    durationSeconds: 0,
  } as NonNullable<Cycle['extenders']>[number]
  const filter = step('Filter', { extenders: [failing] })
  expect(filter.text()).toContain('The extender http://extender failed at filter and was ignored: connection refused')
  expect(filter.find('.i-warn').exists()).toBe(true)
  expect(
    step('Filter', { extenders: [{ ...failing, status: 'Success' }] })
      .find('.i-warn')
      .exists()
  ).toBe(false)
})
