import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/http'
import * as api from '@/api/timeline'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { notices } from '@/ui/notices'
import { clock, step } from './model/testing'
import UndoDialog from './UndoDialog.vue'

vi.mock('@/api/timeline')
vi.mock('@/live/watched', () => ({
  pods: { value: { items: new Map([['default/web-5', { spec: { nodeName: 'node-b1' } }]]) } },
}))
const server = vi.mocked(api)
const none = { created: [], deleted: [], changed: [] }
const web = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web-5' }
await loadDeferredMessages()
HTMLDialogElement.prototype.showModal ??= () => {}

async function open() {
  const dialog = mount(UndoDialog, { global: { plugins: [i18n] }, attachTo: document.body })
  await flushPromises()
  return {
    dialog,
    text: () => dialog.text().replace(/\s+/g, ' '),
    undo: async () => (await dialog.get('[data-testid="undo-confirm"]').trigger('click'), await flushPromises()),
  }
}
afterEach(() => {
  notices.value = []
  vi.clearAllMocks()
})

describe('undo', () => {
  it('names the step and what follows, then takes back exactly this step', async () => {
    server.getUndo.mockResolvedValue({
      step: step(5, { by: 'kubectl' }),
      to: { moment: 4, time: clock(4) },
      ...none,
      deleted: [web],
      configuration: 2,
    })
    server.postUndo.mockResolvedValue({ moment: 9, time: clock(9), ...none, deleted: [web] })
    const { dialog, text, undo } = await open()
    expect(text()).toContain('Undo “Created Pod web-5”?')
    expect(text()).toContain('by kubectl')
    expect(text()).toContain('Pod web-5 (default)on node-b1will be deleted')
    expect(text()).toContain('revision 2will be applied again')
    expect(document.activeElement).toBe(dialog.get('[data-testid="undo-confirm"]').element)
    await undo()
    expect([
      server.postUndo.mock.calls,
      dialog.emitted('close')?.length,
      notices.value.map(({ text: said }) => said),
    ]).toEqual([[[5]], 1, ['Undone: Created Pod web-5']])
  })
  it('shows the step that was made in the meantime, and changes nothing', async () => {
    server.getUndo.mockResolvedValueOnce({ step: step(5), ...none }).mockResolvedValueOnce({ step: step(7), ...none })
    server.postUndo.mockRejectedValue(new ApiError('moved on', 409))
    const { dialog, text, undo } = await open()
    await undo()
    expect(text()).toContain('Another step was made in the meantime')
    expect(text()).toContain('Undo “Created Pod web-7”?')
    expect(dialog.emitted('close')).toBeUndefined()
  })
  it('lists what could not be restored', async () => {
    server.getUndo.mockResolvedValue({ step: step(5), ...none, created: [web] })
    server.postUndo.mockResolvedValue({
      moment: 9,
      time: clock(9),
      ...none,
      failed: [{ object: web, message: 'quota exceeded' }],
    })
    const { dialog, text, undo } = await open()
    await undo()
    expect(text()).toContain('Pod web-5 (default): quota exceeded')
    expect(dialog.emitted('close')).toBeUndefined()
  })
  it('says when there is nothing to undo, and why', async () => {
    server.getUndo.mockResolvedValue({ ...none, message: 'the control plane is not ours' })
    const { dialog, text } = await open()
    expect(text()).toContain('There is nothing to undo')
    expect(text()).toContain('the control plane is not ours')
    expect(dialog.find('[data-testid="undo-confirm"]').exists()).toBe(false)
  })
})
