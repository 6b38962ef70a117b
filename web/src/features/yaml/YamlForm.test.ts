import { flushPromises, mount } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import type { SchemaSource } from './model/schema'
import { i18n } from '@/i18n'
import YamlForm from './YamlForm.vue'

const schema: SchemaSource = {
  root: () => Promise.resolve({ schema: { properties: { spec: { properties: { replicas: { type: 'integer', description: 'How many.' }, paused: { type: 'boolean' }, policy: { type: 'string', enum: ['Always', 'Never'] } } } } }, resolve: () => undefined }),
  heads: () => Promise.resolve([]),
}

async function show(text: string) {
  const wrapper = mount(YamlForm, { props: { schema, modelValue: text }, global: { plugins: [i18n] } })
  await flushPromises()
  return wrapper
}

describe('YamlForm', () => {
  it('has an input for each value, and writes changes back in place', async () => {
    const wrapper = await show('apiVersion: a/v1\nkind: Set\nmetadata: {name: x}\nspec:\n  replicas: 2 # for now\n  paused: false\n  policy: Always\n')
    expect(wrapper.findAll('label').map((l) => l.text())).toEqual(['apiVersion', 'kind', 'metadata.name', 'spec.replicas', 'spec.paused', 'spec.policy'])
    expect(wrapper.findAll('label')[3]?.attributes('title')).toBe('How many.')
    expect(wrapper.findAll('datalist option').map((o) => o.attributes('value'))).toEqual(['Always', 'Never'])
    await wrapper.findAll('input')[3]?.setValue('5')
    await wrapper.findAll('input')[3]?.trigger('change')
    expect(wrapper.emitted('update:modelValue')?.at(-1)?.[0]).toContain('  replicas: 5 # for now\n')
    await wrapper.get('select').setValue('true')
    expect(wrapper.emitted('update:modelValue')?.at(-1)?.[0]).toContain('  paused: true\n')
  })

  it('keeps the text in an input when the schema arrives late', async () => {
    let answer = () => {}
    const late: SchemaSource = { ...schema, root: (document) => new Promise((resolve) => (answer = () => void schema.root(document).then(resolve))) }
    const wrapper = mount(YamlForm, { props: { schema: late, modelValue: 'apiVersion: a/v1\nkind: Set\nspec: {replicas: 2}\n' }, global: { plugins: [i18n] } })
    const input = wrapper.findAll<HTMLInputElement>('input')[2]
    if (!input) throw new Error('there is no input')
    // setValue would also trigger a change.
    input.element.value = '5'
    await input.trigger('input')
    answer()
    await flushPromises()
    expect(wrapper.findAll('label')[2]?.attributes('title')).toBe('How many.')
    expect(input.element.value).toBe('5')
    await input.trigger('change')
    expect(wrapper.emitted('update:modelValue')?.at(-1)?.[0]).toContain('replicas: 5')
  })

  it('shows a message while the text cannot be parsed', async () => {
    const wrapper = await show('spec: [\n')
    expect(wrapper.get('[role="status"]').text()).toContain('is not valid YAML')
    expect(wrapper.findAll('input')).toEqual([])
  })
})
