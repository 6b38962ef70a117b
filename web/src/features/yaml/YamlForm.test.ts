import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import type { SchemaSource } from './model/schema'
import { i18n } from '@/i18n'
import YamlForm from './YamlForm.vue'

const schema: SchemaSource = {
  root: () =>
    Promise.resolve({
      schema: {
        properties: {
          spec: {
            properties: {
              replicas: { type: 'integer', description: 'How many.' },
              paused: { type: 'boolean' },
              policy: { type: 'string', enum: ['Always', 'Never'] },
            },
          },
        },
      },
      resolve: () => undefined,
    }),
  heads: () => Promise.resolve([]),
}

async function show(text: string) {
  const wrapper = mount(YamlForm, { props: { schema, modelValue: text }, global: { plugins: [i18n] } })
  await flushPromises()
  return wrapper
}

describe('YamlForm', () => {
  it('has an input for each value, and writes changes back in place', async () => {
    const wrapper = await show(
      'apiVersion: a/v1\nkind: Set\nmetadata: {name: x}\nspec:\n  replicas: 2 # for now\n  paused: false\n  policy: Always\n'
    )
    expect(wrapper.findAll('label').map((l) => l.text())).toEqual([
      'apiVersion',
      'kind',
      'metadata.name',
      'spec.replicas',
      'spec.paused',
      'spec.policy',
    ])
    expect(wrapper.get('[data-field="0 spec.replicas"] .doc').text()).toBe('How many.')
    expect(wrapper.findAll('label')[3]?.attributes('title')).toBe('How many.')
    expect(
      wrapper
        .findAll('select')[1]
        ?.findAll('option')
        .map((o) => o.text())
    ).toEqual(['Always', 'Never'])
    await wrapper.findAll('input')[3]?.setValue('5')
    await wrapper.findAll('input')[3]?.trigger('change')
    expect(wrapper.emitted('update:modelValue')?.at(-1)?.[0]).toContain('  replicas: 5 # for now\n')
    await wrapper.get('select').setValue('true')
    expect(wrapper.emitted('update:modelValue')?.at(-1)?.[0]).toContain('  paused: true\n')
  })

  const deep: SchemaSource = {
    ...schema,
    root: () =>
      Promise.resolve({
        resolve: () => ({ type: 'string' }),
        schema: {
          properties: {
            apiVersion: {},
            kind: {},
            spec: {
              properties: {
                cpu: { $ref: '#/io.k8s.apimachinery.pkg.api.resource.Quantity', description: 'An amount.' },
                rules: {
                  type: 'array',
                  description: 'Rules. One after the other.',
                  items: {
                    type: 'object',
                    required: ['action'],
                    properties: { action: { type: 'string', enum: ['Allow', 'Deny'] }, port: { type: 'integer' } },
                  },
                },
                labels: { type: 'object', additionalProperties: { type: 'string' } },
              },
            },
          },
        },
      }),
  }
  const last = (wrapper: VueWrapper) => String(wrapper.emitted('update:modelValue')?.at(-1)?.[0])
  /** A form that is in step with its text, as v-model makes it. */
  async function live(text: string) {
    const wrapper: VueWrapper = mount(YamlForm, {
      attachTo: document.body,
      props: {
        schema: deep,
        modelValue: text,
        'onUpdate:modelValue': (modelValue: string) => void wrapper.setProps({ modelValue }),
      },
      global: { plugins: [i18n] },
    })
    await flushPromises()
    return wrapper
  }

  it('adds a field of the schema with its required fields, explains it, and adds items', async () => {
    const wrapper = await live('apiVersion: a/v1\nkind: Set\nspec:\n  cpu: 1 # one\n')
    await wrapper.get('button[aria-label="Add a field to spec"]').trigger('click')
    const add = wrapper.get('[data-testid="form-add"]')
    expect(add.findAll('li').map((li) => li.text())).toEqual([
      'labels map[string]string',
      'rules []objectRules. One after the other.',
    ])
    await add.get('input').setValue('rul')
    await add.get('input').trigger('keydown', { key: 'Enter' })
    await flushPromises()
    expect(last(wrapper)).toBe('apiVersion: a/v1\nkind: Set\nspec:\n  cpu: 1 # one\n  rules:\n  - action: Allow\n')
    await wrapper.get('button[aria-label="Add an item to spec.rules"]').trigger('click')
    await flushPromises()
    expect(last(wrapper)).toContain('  - action: Allow\n  - action: Allow\n')
    expect(wrapper.get('[data-field="0 spec.rules"] .doc').text()).toContain('Rules.')
    // What the schema requires cannot be removed.
    expect(wrapper.find('button[aria-label="Remove spec.rules[0].action"]').exists()).toBe(false)
    await wrapper.get('button[aria-label="Remove spec.rules[0]"]').trigger('click')
    await flushPromises()
    expect(last(wrapper)).toBe('apiVersion: a/v1\nkind: Set\nspec:\n  cpu: 1 # one\n  rules:\n  - action: Allow\n')
    wrapper.unmount()
  })

  it('adds keys of one’s own where a map takes any, and refuses others', async () => {
    const wrapper = await live('apiVersion: a/v1\nkind: Set\nspec:\n  labels: {}\n')
    await wrapper.get('button[aria-label="Add a field to spec.labels"]').trigger('click')
    await wrapper.get('[data-testid="form-add"] input').setValue('example.com/team')
    await wrapper.get('[data-testid="form-add"] .btn').trigger('click')
    await flushPromises()
    expect(last(wrapper)).toContain('  labels:\n    example.com/team: ""\n')
    await wrapper.get('button[aria-label="Add a field to spec"]').trigger('click')
    await wrapper.get('[data-testid="form-add"] input').setValue('nonsense')
    expect(wrapper.get('[data-testid="form-add"] .btn').attributes('disabled')).toBeDefined()
    expect(wrapper.get('[data-testid="form-add"] [role="status"]').text()).toBe('The schema has no such field.')
    wrapper.unmount()
  })

  it('checks quantities', async () => {
    const wrapper = await live('apiVersion: a/v1\nkind: Set\nspec:\n  cpu: six\n')
    const row = wrapper.get('[data-field="0 spec.cpu"]')
    expect([row.get('input').attributes('aria-invalid'), row.get('.bad').text()]).toEqual([
      'true',
      'cpu: “six” is not a quantity. Write an amount such as 500m, 2 or 4Gi.',
    ])
    await row.get('input').setValue('6')
    await row.get('input').trigger('change')
    await flushPromises()
    expect(row.get('input').attributes('aria-invalid')).toBeUndefined()
    wrapper.unmount()
  })

  it('keeps the text in an input when the schema arrives late', async () => {
    let answer = () => {}
    const late: SchemaSource = {
      ...schema,
      root: (document) => new Promise((resolve) => (answer = () => void schema.root(document).then(resolve))),
    }
    const wrapper = mount(YamlForm, {
      props: { schema: late, modelValue: 'apiVersion: a/v1\nkind: Set\nspec: {replicas: 2}\n' },
      global: { plugins: [i18n] },
    })
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
