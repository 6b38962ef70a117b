import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { KindInfo, KubeObject } from '@/api/types'
import { ApiError } from '@/api/http'
import { i18n } from '@/i18n'
import { creator, draft, draftTemplate } from './store/create'
import { notices } from '@/ui/notices'
import CreateDialog from './CreateDialog.vue'

/* eslint-disable vue/one-component-per-file */
// CodeMirror is not under test, and the store holds the text. The stub of the difference
// shows its texts and notes, and marks warnings with !.
vi.mock('@/features/yaml/LazyYaml', async () => {
  const { defineComponent, h } = await import('vue')
  return {
    LazyYaml: defineComponent({ methods: { goTo() {} }, render: () => h('div') }),
    LazyDiff: defineComponent({
      props: { before: String, after: String, beforeNotes: Map },
      render() {
        const notes = [...(this.beforeNotes?.values() ?? [])] as { text: string; warn?: boolean }[]
        return h('div', [
          h('pre', { class: 'before' }, this.before),
          h('pre', { class: 'after' }, this.after),
          h('p', { class: 'notes' }, notes.map((n) => n.text + (n.warn ? '!' : '')).join(' ')),
        ])
      },
    }),
  }
})

const kind = (name: string, resource: string, namespaced: boolean): KindInfo => ({
  group: '',
  version: 'v1',
  kind: name,
  resource,
  namespaced,
  verbs: ['create'],
})
const kinds = [kind('Node', 'nodes', false), kind('Pod', 'pods', true)]
const two = `apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Pod
metadata: {name: p1}
spec: {containers: [{name: c, image: i}]}
`
const refusal = () => new ApiError('etcd is full', 500)

let wrapper: VueWrapper
let sent: string[]
/** Answers each request; dry runs are accepted unless the answer says otherwise. */
function answer(to: (object: KubeObject, dryRun: boolean) => void) {
  vi.spyOn(creator, 'kinds').mockResolvedValue(kinds)
  // A node without taints takes pods at once.
  vi.spyOn(creator, 'get').mockResolvedValue({ metadata: { name: 'n1' } })
  vi.spyOn(creator, 'create').mockImplementation((info, namespace, object, dryRun) => {
    sent.push(`${dryRun ? 'try' : 'create'} ${info.kind} ${namespace ? `${namespace}/` : ''}${object.metadata.name}`)
    to(object, dryRun)
    return Promise.resolve(object)
  })
}
async function submit(yaml: string) {
  draft.value = yaml
  draftTemplate.value = undefined
  wrapper = mount(CreateDialog, { global: { plugins: [i18n] } })
  await wrapper.get('[data-testid="create-submit"]').trigger('click')
  await flushPromises()
}
const documents = () =>
  wrapper.findAll('[data-testid="create-report"] .docs li').map((li) => li.text().replace(/\s+/g, ' '))

beforeEach(() => {
  sent = []
  HTMLDialogElement.prototype.showModal ??= () => {}
})
afterEach(() => {
  wrapper.unmount()
  vi.restoreAllMocks()
})

describe('CreateDialog', () => {
  it('dry-runs everything, creates in order, reports it and closes', async () => {
    answer(() => {})
    await submit(two)
    expect(sent).toEqual(['try Node n1', 'try Pod default/p1', 'create Node n1', 'create Pod default/p1'])
    expect(wrapper.emitted('close')).toHaveLength(1)
    expect(notices.value.at(-1)?.text).toBe('Created n1, p1')
    expect(draft.value).toBe('')
  })

  it('creates nothing if the dry run refuses one document, and keeps the text', async () => {
    answer((object) => {
      if (object.metadata.name === 'p1') throw refusal()
    })
    await submit(two)
    expect(sent.filter((s) => s.startsWith('create'))).toEqual([])
    expect(wrapper.get('[role="alert"]').text()).toBe('Nothing was created.')
    expect(wrapper.get('[data-testid="create-report"]').text()).toContain('etcd is full')
    expect(wrapper.emitted('close')).toBeUndefined()
    expect(draft.value).toBe(two)
  })

  it('shows which documents were created, and retries only the others', async () => {
    answer((object, dryRun) => {
      if (!dryRun && object.metadata.name === 'p1') throw refusal()
    })
    await submit(two)
    expect(wrapper.get('[role="alert"]').text()).toBe('1 of 2 created, 1 rejected.')
    expect(documents().map((d) => d.replace(' namespace default', ''))).toEqual([
      expect.stringMatching(/^Node ?n1 ?created$/),
      expect.stringMatching(/^Pod ?p1.*rejected$/),
    ])
    expect(wrapper.emitted('close')).toBeUndefined()

    sent = []
    answer(() => {})
    await wrapper.get('[data-testid="create-submit"]').trigger('click')
    await flushPromises()
    expect(sent).toEqual(['try Pod default/p1', 'create Pod default/p1'])
    expect(wrapper.emitted('close')).toHaveLength(1)
  })

  it('changes an existing object only after showing the difference', async () => {
    answer((object) => {
      if (object.metadata.name === 'n1') throw new ApiError('already exists', 409, [], [], 'AlreadyExists')
    })
    const there = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }
    vi.spyOn(creator, 'get').mockResolvedValue(there)
    const apply = vi.spyOn(creator, 'apply').mockResolvedValue({ ...there, spec: { unschedulable: true } })
    await submit(two)
    expect(sent.filter((s) => s.startsWith('create'))).toEqual([])
    expect(wrapper.get('.verdict').text()).toBe('Dry run: 1 would be created, 1 would be changed.')
    expect(apply.mock.calls.map((c) => c[3])).toEqual([{ dryRun: true, force: false }])
    await wrapper.get('[data-testid="create-submit"]').trigger('click')
    await flushPromises()
    expect(apply.mock.calls.at(-1)?.[3]).toEqual({ dryRun: false, force: false })
    expect(wrapper.emitted('close')).toHaveLength(1)
  })

  it('names the managers of the fields and shows the effect of a takeover', async () => {
    answer(() => {
      throw new ApiError('already exists', 409, [], [], 'AlreadyExists')
    })
    const there = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: 'n1',
        labels: { team: 'red' },
        managedFields: [{ manager: 'kubectl', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:team': {} } } } }],
      },
    }
    vi.spyOn(creator, 'get').mockResolvedValue(there as unknown as KubeObject)
    const apply = vi.spyOn(creator, 'apply').mockImplementation((...[, , , { force }]) => {
      if (!force)
        return Promise.reject(
          new ApiError(
            'Apply failed',
            409,
            [],
            [{ reason: 'FieldManagerConflict', field: '.metadata.labels.team', message: 'conflict with "kubectl"' }],
            'Conflict'
          )
        )
      return Promise.resolve({
        ...there,
        metadata: { ...there.metadata, labels: { team: 'blue' } },
      } as unknown as KubeObject)
    })
    await submit('apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {team: blue}}\n')
    expect(wrapper.get('.verdict').text()).toBe('Nothing was created.')
    expect(wrapper.get('[data-testid="create-report"] .hint').text()).toContain('managed by kubectl')
    expect(apply.mock.calls.map((c) => c[3])).toEqual([
      { dryRun: true, force: false },
      { dryRun: true, force: true },
    ])
    const [item] = wrapper.findAll('[data-testid="create-report"] .docs .btn')
    await item?.trigger('click')
    expect(wrapper.get('.dh').text()).toContain('conflict')
    expect(wrapper.get('pre.before').text()).toMatch(/team: red$/m)
    expect(wrapper.get('pre.after').text()).toMatch(/team: blue$/m)
    expect(wrapper.get('.notes').text()).toContain('kubectl!')
  })

  it('creates the others on request if one is refused', async () => {
    answer((object) => {
      if (object.metadata.name === 'p1') throw refusal()
    })
    await submit(two)
    await wrapper
      .findAll('button')
      .find((b) => b.text() === 'Create the other 1')
      ?.trigger('click')
    await flushPromises()
    expect(sent.filter((s) => s.startsWith('create'))).toEqual(['create Node n1'])
    expect(wrapper.get('[role="alert"]').text()).toBe('1 of 2 created, 1 rejected.')
  })

  it('shows a parse error at its line without a request', async () => {
    answer(() => {})
    await submit('apiVersion: v1\nkind: Node\nmetadata:\n\tname: x\n')
    expect(sent).toEqual([])
    expect(wrapper.get('.probs').text()).toContain('line 4')
  })
})
