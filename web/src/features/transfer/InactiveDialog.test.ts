import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/http'
import * as api from '@/api/transfer'
import type { Inactive } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { mockFunctions } from '@/ui/testing'
import { transferDialog } from './store/transfer'
import InactiveDialog from './InactiveDialog.vue'
import InactiveStrip from './InactiveStrip.vue'

mockFunctions(api)

const hook: Inactive = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  name: 'policy',
  calls: ['https://192.0.2.1/hook', 'service ns/hook'],
}
const extender: Inactive = {
  apiVersion: 'kubescheduler.config.k8s.io/v1',
  kind: 'Extender',
  name: 'http://127.0.0.1:8888',
  calls: ['http://127.0.0.1:8888'],
}

let wrapper: VueWrapper
async function show() {
  wrapper = mount(InactiveDialog, { global: { plugins: [i18n] } })
  await flushPromises()
}

beforeAll(loadDeferredMessages)
beforeEach(() => {
  HTMLDialogElement.prototype.showModal ??= () => {}
  vi.mocked(api.listInactive).mockResolvedValue([hook, extender])
})
afterEach(() => {
  wrapper.unmount()
  vi.clearAllMocks()
})

describe('InactiveDialog', () => {
  it('lists what each part would call', async () => {
    await show()
    const [first, second] = wrapper.findAll('li').map((li) => li.text())
    expect(first).toContain('policy')
    expect(first).toContain('would call https://192.0.2.1/hook, service ns/hook')
    expect(second).toContain('Extender')
  })

  it('activates one part, and then says that none is left', async () => {
    await show()
    vi.mocked(api.activate).mockResolvedValueOnce([hook]).mockResolvedValueOnce([])
    await wrapper.get('[aria-label="Activate Extender http://127.0.0.1:8888"]').trigger('click')
    await flushPromises()
    expect(api.activate).toHaveBeenLastCalledWith(extender)
    expect(wrapper.findAll('li')).toHaveLength(1)
    expect(wrapper.find('[data-testid="activate-all"]').exists()).toBe(false)
    await wrapper.get('li button').trigger('click')
    await flushPromises()
    expect(wrapper.text()).toContain('Nothing is inactive any more.')
  })

  it('shows why a part stays inactive, and what is left', async () => {
    await show()
    vi.mocked(api.activate).mockRejectedValue(new ApiError('calls to 192.0.2.1 are not allowed', 403))
    vi.mocked(api.listInactive).mockResolvedValue([hook])
    await wrapper.get('[data-testid="activate-all"]').trigger('click')
    await flushPromises()
    expect(api.activate).toHaveBeenCalledWith(undefined)
    expect(wrapper.text()).toContain('calls to 192.0.2.1 are not allowed')
    expect(wrapper.findAll('li')).toHaveLength(1)
  })
})

describe('InactiveStrip', () => {
  it('leads to the dialog, and is silent when nothing is inactive', async () => {
    wrapper = mount(InactiveStrip, { props: { count: 0 }, global: { plugins: [i18n] } })
    expect(wrapper.get('[role="status"]').text()).toBe('')
    await wrapper.setProps({ count: 2 })
    expect(wrapper.text()).toContain('2 imported parts stay inactive')
    await wrapper.get('button').trigger('click')
    expect(transferDialog.value).toBe('inactive')
    transferDialog.value = undefined
  })
})
