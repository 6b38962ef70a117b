import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import * as branches from '@/api/branches'
import * as configuration from '@/api/configuration'
import * as api from '@/api/transfer'
import { ApiError } from '@/api/http'
import type { ImportReport } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { branches as branchList } from '@/features/branch/store/branches'
import { node } from '@/kubernetes/testing'
import { model, nodes } from '@/live/watched'
import { mockFunctions } from '@/ui/testing'
import { cancelImport, forgetImport, importRun, openImport, transferDialog } from './store/transfer'
import ImportDialog from './ImportDialog.vue'

mockFunctions(api)
mockFunctions(branches)
mockFunctions(configuration)
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
  leftToScheduler: 0,
  kinds: [{ apiVersion: 'v1', kind: 'Node', created: 2, updated: 0, unchanged: 0, failed: 1, skipped: 0 }],
  failed: [{ apiVersion: 'v1', kind: 'Node', name: 'n3', message: 'metadata.name: Invalid value', source: 'a.yaml' }],
  failedTotal: 1,
  lacks: [],
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
    vi.mocked(configuration.listRevisions).mockResolvedValue([
      { number: 3, source: 'user', state: 'running', summary: 'NodeResourcesFit: MostAllocated' },
      { number: 2, source: 'default', state: 'replaced', summary: '' },
    ] as never)
    serve()
    await show()
    expect(wrapper.get('[data-testid="placed-by"]').text()).toContain(
      'revision 3 of the scheduler configuration places them: NodeResourcesFit: MostAllocated.'
    )
    expect(wrapper.find('[data-testid="export-first"]').exists()).toBe(false)
    await wrapper.get('input[value="replace"]').setValue()
    await wrapper.get('[data-testid="export-first"]').trigger('click')
    expect(transferDialog.value).toBe('export')
    wrapper.unmount()
    await show('apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n')
    expect(wrapper.get('[data-testid="placed-by"]').text()).toContain('The scheduler configuration of the file')
  })

  it('applies Kubernetes’ default first if that is to place the pods, and imports nothing if that fails', async () => {
    vi.mocked(configuration.listRevisions).mockResolvedValue([
      { number: 3, source: 'user', state: 'running', summary: 'x' },
    ] as never)
    serve()
    await show()
    await wrapper.get('[data-testid="by-default"]').setValue(true)
    vi.mocked(configuration.resetConfiguration).mockRejectedValueOnce(new ApiError('busy', 409))
    await start()
    expect(api.sendImport).not.toHaveBeenCalled()
    vi.mocked(configuration.resetConfiguration).mockResolvedValueOnce({} as never)
    await start()
    expect(configuration.resetConfiguration).toHaveBeenCalledTimes(2)
    expect(api.sendImport).toHaveBeenCalledOnce()
  })

  describe('where this cluster is not empty', () => {
    beforeEach(() => {
      model.setNode('n', node('n'))
      nodes.value = { ...nodes.value }
      vi.mocked(branches.listBranches).mockResolvedValue([])
      vi.mocked(branches.createBranch).mockRejectedValue(new ApiError('four run already', 409))
      vi.mocked(configuration.getConfiguration).mockResolvedValue('percentageOfNodesToScore: 70')
      vi.mocked(configuration.listRevisions).mockResolvedValue([
        { number: 3, source: 'user', state: 'running', summary: 'x' },
      ] as never)
    })
    afterEach(() => {
      model.setNode('n', undefined)
      nodes.value = { ...nodes.value }
      branchList.value = undefined
    })

    it('imports into an empty workspace with the same configuration, or with Kubernetes’ default', async () => {
      await show()
      await flushPromises()
      expect(wrapper.get<HTMLInputElement>('input[value="workspace"]').element.checked).toBe(true)
      await start()
      await flushPromises()
      const empty = { title: 'a', purpose: 'import', objects: [] } as const
      expect(branches.createBranch).toHaveBeenLastCalledWith({
        ...empty,
        configuration: 'percentageOfNodesToScore: 70',
      })
      expect(wrapper.get('[role="alert"]').text()).toContain('four run already')
      await wrapper.findAll('footer .btn')[0]?.trigger('click')
      await wrapper.get('[data-testid="import-title"]').setValue('Tuesday')
      await wrapper.get('[data-testid="by-default"]').setValue(true)
      await start()
      await flushPromises()
      expect(branches.createBranch).toHaveBeenLastCalledWith({ ...empty, title: 'Tuesday' })
      expect(configuration.resetConfiguration).not.toHaveBeenCalled()
      expect(api.sendImport).not.toHaveBeenCalled()
    })

    it('offers none where the server has no workspaces', async () => {
      vi.mocked(branches.listBranches).mockRejectedValue(new ApiError('this is a branch', 501))
      await show()
      await flushPromises()
      expect(wrapper.find('input[value="workspace"]').exists()).toBe(false)
      expect(wrapper.get<HTMLInputElement>('input[value="merge"]').element.checked).toBe(true)
    })
  })

  it('offers no other configuration than the default where it runs already', async () => {
    vi.mocked(configuration.listRevisions).mockResolvedValue([
      { number: 1, source: 'default', state: 'running', summary: '' },
    ] as never)
    await show()
    expect(wrapper.get('[data-testid="placed-by"]').text()).toBe(
      'Kubernetes’ default scheduler configuration will place the pods.'
    )
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

  it.each([
    ['Compare with the original cluster', { leftToScheduler: 1 }],
    ['What the file lacks', { lacks: [{ apiVersion: 'v1', kind: 'Node', by: 'Pod', command: '' }] }],
    // What nothing refers to may not exist.
    [undefined, { lacks: [{ apiVersion: 'v1', kind: 'Service', command: '' }] }],
  ])('leads to what the page about the import says: %s', async (said, more: Partial<ImportReport>) => {
    const server = serve()
    await show()
    await start()
    server.say({ report: { ...report, ...more } })
    await server.end()
    const button = wrapper.find('[data-testid="import-compare"]')
    expect(button.exists() ? button.text() : undefined).toBe(said)
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
