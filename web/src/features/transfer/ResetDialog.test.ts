import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { shallowRef } from 'vue'
import * as configuration from '@/api/configuration'
import { ApiError } from '@/api/http'
import * as api from '@/api/transfer'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { notices } from '@/ui/notices'
import { mockFunctions } from '@/ui/testing'
import ResetDialog from './ResetDialog.vue'

mockFunctions(api)
mockFunctions(configuration)
const here = vi.hoisted(() => ({ nodes: 0, pods: 0 }))
vi.mock('@/live/cluster', () => ({
  cluster: {
    get value() {
      return { nodes: Array.from({ length: here.nodes }), podCount: here.pods }
    },
  },
}))
vi.mock('@/live/decisionCounts', () => ({ useDecisionCounts: () => shallowRef({ kept: 1523 }) }))
vi.mock('@/live/operation', () => ({
  operation: shallowRef(undefined),
  external: shallowRef(false),
  recordingLoaded: shallowRef(false),
}))

let wrapper: VueWrapper
async function show(nodes: number, pods: number) {
  Object.assign(here, { nodes, pods })
  wrapper = mount(ResetDialog, { global: { plugins: [i18n] } })
  await flushPromises()
}
const confirm = () => wrapper.get('[data-testid="reset-confirm"]')

beforeAll(loadDeferredMessages)
beforeEach(() => {
  HTMLDialogElement.prototype.showModal ??= () => {}
  vi.mocked(configuration.listRevisions).mockResolvedValue([
    { source: 'user' },
    { source: 'user' },
    { source: 'start' },
  ] as never)
})
afterEach(() => {
  wrapper.unmount()
  vi.clearAllMocks()
})

describe('ResetDialog', () => {
  it('shows the numbers of objects to delete', async () => {
    await show(12, 1)
    expect(wrapper.findAll('li').map((li) => li.text())).toEqual([
      '12 nodes',
      '1 pod',
      '1,523 decisions',
      '2 applied configurations',
    ])
  })

  it('counts no configuration that nobody applied', async () => {
    vi.mocked(configuration.listRevisions).mockResolvedValue([{ source: 'start' }] as never)
    await show(12, 1)
    expect(wrapper.text()).not.toContain('applied configuration')
  })

  it('resets a small cluster with one click, and reports the result', async () => {
    vi.mocked(api.resetCluster).mockResolvedValue({ deleted: 1234, durationSeconds: 0.5 })
    await show(12, 1)
    await confirm().trigger('click')
    await flushPromises()
    expect(wrapper.emitted('close')).toHaveLength(1)
    expect(notices.value.at(-1)?.text).toBe('The simulator has been reset: 1,234 objects deleted in 500 ms')
  })

  it('requires a typed word for a large cluster', async () => {
    await show(90, 10)
    expect(confirm().attributes('disabled')).toBeDefined()
    await wrapper.get('input').setValue('Reset')
    expect(confirm().attributes('disabled')).toBeUndefined()
  })

  it('stays open with the error when the reset is refused', async () => {
    vi.mocked(api.resetCluster).mockRejectedValue(
      new ApiError('an import is under way; try again when it is over', 409)
    )
    await show(1, 1)
    await confirm().trigger('click')
    await flushPromises()
    expect(wrapper.get('[role="alert"]').text()).toContain('an import is under way')
    expect(wrapper.emitted('close')).toBeUndefined()
  })
})
