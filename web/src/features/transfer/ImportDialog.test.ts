import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import * as api from '@/api/transfer'
import { ApiError } from '@/api/http'
import type { ImportReport } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { status } from '@/live/status'
import { mockFunctions } from '@/ui/testing'
import { cancelImport, forgetImport, importRun, openImport, transferDialog } from './store/transfer'
import ImportDialog from './ImportDialog.vue'

mockFunctions(api)
vi.mock('vue-router', () => ({ useRouter: () => ({ push: () => {} }) }))

let wrapper: VueWrapper
const progress = { phase: 'reading', done: 0, total: 0 } as const
const report: ImportReport = {
  mode: 'merge',
  reschedule: false,
  startTime: '2026-01-01T10:00:00Z',
  durationSeconds: 1.5,
  read: 3,
  created: 2,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  kinds: [{ apiVersion: 'v1', kind: 'Node', created: 2, updated: 0, unchanged: 0, failed: 1, skipped: 0 }],
  failed: [{ apiVersion: 'v1', kind: 'Node', name: 'n3', message: 'metadata.name: Invalid value', source: 'a.yaml' }],
  failedTotal: 1,
  causes: [],
  skipped: [],
  skippedTotal: 0,
  warnings: [],
  warningsTotal: 0,
  inactive: [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      name: 'policy',
      message: 'inactive: it would call https://192.0.2.1/hook',
    },
  ],
  inactiveTotal: 1,
  configuration: {
    applied: true,
    revision: 2,
    removed: [{ field: 'leaderElection', message: 'no effect' }],
    inactiveExtenders: ['http://192.0.2.1/extender'],
  },
}
const line = (value: object) => `${JSON.stringify(value)}\n`

/** The server's side of one import: what it sends and when it ends. */
function serve() {
  let received: (part: string) => void = () => {}
  let sent: (done: number, total: number) => void = () => {}
  let end: (error?: unknown) => void = () => {}
  vi.mocked(api.sendImport).mockImplementation((_body, _options, on) => {
    received = on.received
    sent = on.sent
    return new Promise((resolve, reject) => {
      end = (error) => (error ? reject(error as Error) : resolve(''))
      on.signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
    })
  })
  return {
    say: (value: object) => received(line(value)),
    sent: (done: number, total: number) => sent(done, total),
    end: (error?: unknown) => (end(error), flushPromises()),
  }
}
async function show(text = 'apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n') {
  openImport([{ file: new File([text], 'a.yaml'), path: 'a.yaml' }])
  wrapper = mount(ImportDialog, { global: { plugins: [i18n] } })
  await vi.waitFor(() => expect(wrapper.get('[data-testid="import-look"]').text()).toContain('Contents'))
}
const start = () => wrapper.get('[data-testid="import-start"]').trigger('click')

beforeAll(loadDeferredMessages)
beforeEach(() => {
  HTMLDialogElement.prototype.showModal ??= () => {}
  vi.mocked(api.getImport).mockResolvedValue({ state: 'none', progress })
  vi.mocked(api.servedTransfers).mockResolvedValue(new Set(['import']))
})
afterEach(async () => {
  wrapper.unmount()
  await cancelImport()
  await flushPromises()
  forgetImport()
  vi.clearAllMocks()
})

describe('ImportDialog', () => {
  it('previews the chosen input, and sends a single file unchanged', async () => {
    serve()
    await show()
    expect(wrapper.get('[data-testid="import-look"]').text()).toContain('Node 1')
    await wrapper.get('input[type="checkbox"]').setValue(true)
    await start()
    const [body, options] = vi.mocked(api.sendImport).mock.calls[0] ?? []
    expect(body).toBeInstanceOf(File)
    expect(options).toEqual({ mode: 'merge', reschedule: true })
  })

  it('says which configuration will place the pods, and offers an export before everything is deleted', async () => {
    status.value = { scheduler: { revision: 3 } } as typeof status.value
    serve()
    await show()
    expect(wrapper.get('[data-testid="placed-by"]').text()).toContain(
      'Revision 3 of the scheduler configuration will place the pods'
    )
    expect(wrapper.find('[data-testid="export-first"]').exists()).toBe(false)
    await wrapper.get('input[value="replace"]').setValue()
    await wrapper.get('[data-testid="export-first"]').trigger('click')
    expect(transferDialog.value).toBe('export')
    wrapper.unmount()
    await show('apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n')
    expect(wrapper.get('[data-testid="placed-by"]').text()).toContain('The scheduler configuration of the file')
    status.value = undefined
  })

  it('shows sending, phases and the summary', async () => {
    const server = serve()
    await show()
    await start()
    server.sent(512, 1024)
    await flushPromises()
    expect(wrapper.get('[data-testid="import-progress"]').text()).toContain('512 bytes of 1.0 KiB')
    // Merging empties nothing.
    expect(wrapper.findAll('[data-testid="import-progress"] li').map((li) => li.text())).toEqual([
      'Send',
      'Read',
      'Create',
      'Settle',
    ])
    server.sent(1024, 1024)
    server.say({ progress: { phase: 'applying', done: 1200, total: 3000, kind: 'Pod' } })
    await flushPromises()
    expect(wrapper.get('[data-testid="import-progress"]').text()).toContain('Creating Pod')
    expect(wrapper.get('[data-testid="import-progress"]').text()).toContain('1,200 of 3,000')
    server.say({ report })
    await server.end()
    const summary = wrapper.get('[data-testid="import-summary"]').text()
    expect(summary).toContain('Imported 2 objects in 1.50 s; 1 rejected')
    expect(summary).toContain('Running as revision 2.')
    expect(summary).toContain('leaderElection')
    expect(summary).toContain('Inactive 1')
    expect(summary).toContain('http://192.0.2.1/extender')
    expect(wrapper.emitted('close')).toBeUndefined()
  })

  it('has a step that empties the cluster only when replacing it', async () => {
    serve()
    await show()
    await wrapper.get('input[value="replace"]').setValue(true)
    await start()
    await flushPromises()
    expect(wrapper.findAll('[data-testid="import-progress"] li').map((li) => li.text())).toContain('Empty')
  })

  it('says what the box does, whether or not it is checked', async () => {
    await show()
    const said = () => wrapper.get('.opt.line .cap').text()
    const before = said()
    expect(before).toMatch(/^Checked:.*Unchecked:/)
    await wrapper.get('input[type="checkbox"]').setValue(true)
    expect(said()).toBe(before)
  })

  it('reports unreadable input, and returns to the choice', async () => {
    const server = serve()
    await show()
    await start()
    await server.end(new ApiError('nothing could be read', 400, ['a.yaml: line 3']))
    expect(wrapper.get('[role="alert"]').text()).toContain('nothing could be read')
    expect(wrapper.get('[role="alert"]').text()).toContain('a.yaml: line 3')
    await wrapper.findAll('footer .btn')[0]?.trigger('click')
    expect(wrapper.text()).toContain('a.yaml')
  })

  it('shows what was imported before a failure', async () => {
    const server = serve()
    await show()
    await start()
    server.say({ progress: { phase: 'applying', done: 1, total: 3 } })
    server.say({ error: { message: 'etcd is full' } })
    vi.mocked(api.getImport).mockResolvedValue({
      state: 'failed',
      progress,
      report,
      error: { message: 'etcd is full', details: [] },
    })
    await server.end()
    expect(wrapper.get('[role="alert"]').text()).toContain('etcd is full')
    expect(wrapper.get('[data-testid="import-summary"]').text()).toContain('Imported 2 objects')
  })

  it('follows the server’s import when the stream is lost', async () => {
    const server = serve()
    await show()
    await start()
    server.say({ progress: { phase: 'applying', done: 1, total: 3 } })
    vi.mocked(api.getImport).mockResolvedValue({ state: 'finished', progress, report })
    await server.end(new ApiError('the connection was lost', 0))
    expect(importRun.value.kind).toBe('finished')
  })

  it('stops sending immediately, and asks the server to stop a running import', async () => {
    const server = serve()
    await show()
    await start()
    await wrapper.get('[data-testid="import-stop"]').trigger('click')
    await flushPromises()
    expect(importRun.value.kind).toBe('cancelled')
    expect(api.cancelImport).not.toHaveBeenCalled()
    forgetImport()
    await flushPromises()
    await start()
    server.say({ progress: { phase: 'applying', done: 1, total: 3 } })
    await flushPromises()
    vi.mocked(api.getImport).mockResolvedValue({ state: 'cancelled', progress, report })
    await wrapper.get('[data-testid="import-stop"]').trigger('click')
    await flushPromises()
    expect(api.cancelImport).toHaveBeenCalledOnce()
    expect(wrapper.text()).toContain('Objects that were already created stay.')
  })

  it('continues the import when the dialog is closed', async () => {
    const server = serve()
    await show()
    await start()
    wrapper.unmount()
    server.say({ report })
    await server.end()
    expect(importRun.value.kind).toBe('finished')
  })
})
