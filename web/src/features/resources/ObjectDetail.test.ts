import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/http'
import * as kubernetes from '@/api/kubernetes'
import type { KindInfo, KubeObject } from '@/api/types'
import { i18n } from '@/i18n'
import { mockFunctions } from '@/ui/testing'
import ObjectDetail from './ObjectDetail.vue'

mockFunctions(kubernetes, 'getObject', 'replaceObject')
/* eslint-disable vue/one-component-per-file */
// CodeMirror is not under test; the stub holds a text.
vi.mock('@/features/yaml/LazyYaml', async () => {
  const { defineComponent, h } = await import('vue')
  return {
    LazyYaml: defineComponent({
      props: { modelValue: { type: String, required: true } },
      emits: ['update:modelValue'],
      methods: { goTo() {} },
      render() {
        return h('textarea', {
          value: this.modelValue,
          onInput: (e: Event) => this.$emit('update:modelValue', (e.target as HTMLTextAreaElement).value),
        })
      },
    }),
    LazyDiff: defineComponent({ render: () => h('pre') }),
  }
})
const get = vi.mocked(kubernetes.getObject)

const kind = (): KindInfo => ({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespaced: true,
  verbs: [],
})
const object = (version: string, data: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', namespace: 'default', uid: 'u', resourceVersion: version },
  data,
})

let wrapper: VueWrapper
async function show() {
  wrapper = mount(ObjectDetail, {
    props: { kind: kind(), namespace: 'default', name: 'm', live: 1, taken: () => false },
    global: { plugins: [i18n], stubs: { RouterLink: true } },
  })
  await flushPromises()
}
const button = (text: string) => wrapper.findAll('button').find((b) => b.text() === text)
/** Tries the text as a dry run, and saves it if the server accepts it. */
async function save() {
  await button('Dry run')?.trigger('click')
  await flushPromises()
  await button('Save')?.trigger('click')
  await flushPromises()
}
const text = () => (wrapper.get('textarea').element as HTMLTextAreaElement).value
async function changed() {
  vi.useFakeTimers()
  await wrapper.setProps({ live: Math.random() })
  vi.advanceTimersByTime(200)
  vi.useRealTimers()
  await flushPromises()
}

beforeEach(() => {
  get.mockResolvedValue(object('1', { a: '1', b: '1' }))
})
afterEach(() => {
  wrapper.unmount()
  vi.clearAllMocks()
})

describe('ObjectDetail', () => {
  it('follows the cluster while the user only reads', async () => {
    await show()
    get.mockResolvedValue(object('2', { a: '2', b: '1' }))
    await changed()
    expect(text()).toContain('a: "2"')
  })
  it('keeps edited text when the object or the list of kinds changes', async () => {
    await show()
    await button('Edit')?.trigger('click')
    await wrapper.get('textarea').setValue(text().replace('a: "1"', 'a: mine'))
    get.mockResolvedValue(object('2', { a: '1', b: 'theirs' }))
    await changed()
    await wrapper.setProps({ kind: kind() })
    await flushPromises()
    expect(text()).toContain('a: mine')
    expect(wrapper.text()).toContain('This object has changed since you opened it.')
  })
  it('merges a concurrent change, and saves the result as the newest version', async () => {
    await show()
    await button('Edit')?.trigger('click')
    await wrapper.get('textarea').setValue(text().replace('a: "1"', 'a: mine'))
    get.mockResolvedValue(object('2', { a: '1', b: 'theirs' }))
    const replace = vi.mocked(kubernetes.replaceObject)
    replace.mockRejectedValueOnce(new ApiError('conflict', 409, [], [], 'Conflict'))
    await save()
    expect(wrapper.text()).toContain('Another client has changed this object')
    await button('Merge both changes')?.trigger('click')
    replace.mockImplementation((_, body) => Promise.resolve(body))
    await save()
    expect(replace.mock.calls.at(-1)?.[1]).toEqual(object('2', { a: 'mine', b: 'theirs' }))
  })
  it('shows the difference of a conflict, even if the watch refreshes the object meanwhile', async () => {
    await show()
    await button('Edit')?.trigger('click')
    await wrapper.get('textarea').setValue(text().replace('a: "1"', 'a: mine'))
    vi.mocked(kubernetes.replaceObject).mockRejectedValueOnce(new ApiError('conflict', 409, [], [], 'Conflict'))
    const answers: ((object: KubeObject) => void)[] = []
    get.mockImplementation(() => new Promise((answer) => answers.push(answer)))
    await save()
    await changed()
    for (const answer of answers) answer(object('2', { a: '1', b: 'theirs' }))
    await flushPromises()
    expect(answers).toHaveLength(2)
    expect(wrapper.get('[role="tab"][aria-selected="true"]').text()).toContain('Changes')
  })
  it('keeps the text of a deleted object', async () => {
    await show()
    await button('Edit')?.trigger('click')
    await wrapper.get('textarea').setValue(text().replace('a: "1"', 'a: mine'))
    get.mockRejectedValue(new ApiError('not found', 404))
    await changed()
    expect(wrapper.text()).toContain('Your text is still here')
    expect(text()).toContain('a: mine')
    expect(button('Create it again')).toBeDefined()
  })
})
