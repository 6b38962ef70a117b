import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick, ref } from 'vue'
import * as api from '@/api/configuration'
import { ApiError } from '@/api/http'
import type { Applied, Effective, ErrorDetail, Revision, Status } from '@/api/types'
import { connection, status } from '@/live/status'
import { notices } from '@/ui/notices'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { begin } from './model/draft'
import { presets } from './model/presets'
import { dirty, discard, draft, overtaken, running, write } from './store/configuration'
import { ownPresets } from './store/ownPresets'
import { useApply, type Apply } from './useApply'
import { useConfigurationCheck, type ConfigurationCheck } from './useConfigurationCheck'
import { useConfigurationInForce, type ConfigurationInForce } from './useConfigurationInForce'
import { useDefaultDocument } from './useDefaultDocument'
import { useDraftStart, type DraftStart } from './useDraftStart'
import { useOwnPresets, type OwnPresets } from './useOwnPresets'
import { useRevisionDialog, type RevisionDialog } from './useRevisionDialog'

const server = mockFunctions(api)

const revision = (number: number, more: Partial<Revision> = {}): Revision => ({
  number,
  time: '2026-01-01T00:00:00Z',
  source: 'user',
  summary: '',
  state: 'running',
  podsScheduled: 0,
  profiles: ['default-scheduler'],
  ...more,
})
const applied = (number: number, more: Partial<Applied> = {}): Applied => ({
  revision: revision(number),
  noEffect: [],
  durationSeconds: 0.2,
  ...more,
})
const invalid = (...problems: ErrorDetail[]) => new ApiError('the configuration is invalid', 422, [], [], '', problems)
const effective: Effective = { apiVersion: 'v1', settings: [], profiles: [], extenders: [] } as unknown as Effective

interface Page {
  inForce: ConfigurationInForce
  check: ConfigurationCheck
  apply: Apply
  start: DraftStart
  own: OwnPresets
  dialog: RevisionDialog
}
let page: Running<Page>
const showEditor = vi.fn()
const goTo = vi.fn()
const started = vi.fn()
/** Opens the page with revision 1 running. */
async function open() {
  page = await withSetup(() => {
    const inForce = useConfigurationInForce()
    const check = useConfigurationCheck()
    const start = useDraftStart(started)
    const apply = useApply(check, { showEditor, goTo, finished: inForce.reload })
    return {
      inForce,
      check,
      start,
      apply,
      dialog: useRevisionDialog(apply, start.startFrom),
      own: useOwnPresets(start.savedAs),
    }
  })
  await flushPromises()
}
/** Another client applies a revision with this text. */
async function runs(number: number, text: string) {
  server.getConfiguration.mockImplementation((which) => Promise.resolve(which === 'default' ? 'default: 1\n' : text))
  status.value = { scheduler: { revision: number, phase: 'running', profiles: [] } } as unknown as Status
  await flushPromises()
}
/** Changes the draft and waits for the dry run. */
async function writes(text: string) {
  write(text)
  await nextTick()
  await vi.advanceTimersByTimeAsync(600)
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  server.getEffective.mockResolvedValue(effective)
  server.listRevisions.mockResolvedValue([revision(1, { source: 'default' })])
  server.tryConfiguration.mockResolvedValue(applied(0))
  connection.value = { kind: 'live' }
  await runs(1, 'running: 1\n')
  await open()
})
afterEach(() => {
  page.unmount()
  discard()
  running.value = undefined
  draft.value = undefined
  status.value = undefined
  notices.value = []
  vi.useRealTimers()
  vi.resetAllMocks()
})

describe('a draft', () => {
  it('follows the running configuration until the user edits it, and then survives another apply', async () => {
    await runs(2, 'running: 2\n')
    expect([draft.value?.text, dirty.value]).toEqual(['running: 2\n', false])
    write('mine: 1\n')
    await runs(3, 'running: 3\n')
    expect([draft.value?.text, overtaken.value, running.value?.revision]).toEqual(['mine: 1\n', true, 3])
    expect(page.value.inForce.next.value).toBe(4)
    discard()
    expect([draft.value?.text, overtaken.value]).toEqual(['running: 3\n', false])
  })

  it('is compared with what is in force, again when another configuration runs', async () => {
    const changed = (current: number) => [{ field: 'parallelism', default: 16, current }]
    server.tryConfiguration.mockResolvedValue(applied(0, { effective, difference: changed(3) }))
    await writes('mine: 1\n')
    expect(page.value.check.effect.value?.difference).toEqual(changed(3))
    server.tryConfiguration.mockResolvedValue(applied(0, { effective, difference: changed(4) }))
    await runs(3, 'running: 3\n')
    await vi.advanceTimersByTimeAsync(600)
    expect(page.value.check.effect.value?.difference).toEqual(changed(4))
  })
})

describe('the dry run', () => {
  it('follows the text and shows what would be in force', async () => {
    const { check, verdict, effect } = page.value.check
    expect([check.value.kind, verdict.value.icon, effect.value]).toEqual(['idle', 'check', undefined])
    server.tryConfiguration.mockResolvedValue(applied(0, { effective }))
    write('mine: 1\n')
    await nextTick()
    expect([check.value.kind, effect.value?.state]).toEqual(['checking', 'checking'])
    await vi.advanceTimersByTimeAsync(600)
    expect([check.value.kind, effect.value]).toEqual(['valid', { effective, difference: [], state: 'valid' }])
  })

  it('shows mistakes at their lines, lists those without a line, and keeps the last valid effect', async () => {
    const { problems, elsewhere, verdict, effect } = page.value.check
    server.tryConfiguration.mockResolvedValueOnce(applied(0, { effective }))
    await writes('mine: 1\n')
    server.tryConfiguration.mockRejectedValueOnce(
      invalid({ message: 'is unknown', field: 'mine', line: 1 }, { message: 'profiles are missing' })
    )
    await writes('mine: 2\n')
    expect(problems.value).toEqual([{ line: 1, message: 'mine: is unknown' }])
    expect(elsewhere.value).toEqual([{ message: 'profiles are missing' }])
    expect(verdict.value.tone).toBe('rej')
    expect(effect.value).toEqual({ effective, difference: [], state: 'invalid' })
  })

  it('distinguishes a server that does not respond from a mistake, and retries', async () => {
    server.tryConfiguration.mockRejectedValueOnce(new ApiError('starting', 503))
    await writes('mine: 1\n')
    expect([page.value.check.check.value.kind, page.value.check.verdict.value.tone]).toEqual(['unknown', 'warn'])
    await vi.advanceTimersByTimeAsync(2500)
    expect(page.value.check.check.value.kind).toBe('valid')
  })
})

describe('applying', () => {
  it('asks for confirmation, then applies the draft', async () => {
    const { apply } = page.value
    await apply.askToApply()
    expect(apply.confirming.value).toBe(false)
    await writes('mine: 1\n')
    await apply.askToApply()
    expect(apply.confirming.value).toBe(true)
    server.applyConfiguration.mockResolvedValue(applied(2))
    await apply.apply()
    expect(server.applyConfiguration).toHaveBeenCalledExactlyOnceWith('mine: 1\n')
    expect([apply.confirming.value, apply.busy.value, dirty.value]).toEqual([false, false, false])
    expect(running.value).toEqual({ revision: 2, text: 'mine: 1\n' })
    expect(notices.value.at(-1)?.kind).toBe('done')
  })

  it('does not wait for the dry run of the last keystroke', async () => {
    write('mine: 1\n')
    await page.value.apply.askToApply()
    expect(page.value.apply.confirming.value).toBe(true)
    expect(server.tryConfiguration).toHaveBeenLastCalledWith('mine: 1\n', expect.anything())
  })

  it('goes to the first mistake instead of asking', async () => {
    server.tryConfiguration.mockRejectedValue(invalid({ message: 'nowhere' }, { message: 'bad', line: 4, column: 2 }))
    await writes('mine: 1\n')
    await page.value.apply.askToApply()
    expect(page.value.apply.confirming.value).toBe(false)
    expect(showEditor).toHaveBeenCalledOnce()
    expect(goTo).toHaveBeenCalledExactlyOnceWith(4, 2)
  })

  it('shows a refusal of the apply until the text changes', async () => {
    const { apply, check } = page.value
    await writes('mine: 1\n')
    server.applyConfiguration.mockRejectedValue(invalid({ message: 'no such plugin', line: 3 }))
    await apply.apply()
    expect([check.problems.value, check.verdict.value.icon]).toEqual([[{ line: 3, message: 'no such plugin' }], 'x'])
    expect(apply.failed.value).toBeUndefined()
    expect(goTo).toHaveBeenCalledWith(3, undefined)
    expect(draft.value?.text).toBe('mine: 1\n')
    await writes('mine: 2\n')
    expect([check.problems.value, check.verdict.value.icon]).toEqual([[], 'check'])
  })

  it('keeps the draft and shows the error when the server does not respond', async () => {
    const gone = new ApiError('fetch failed', 0)
    await writes('mine: 1\n')
    server.applyConfiguration.mockRejectedValue(gone)
    await page.value.apply.apply()
    expect([page.value.apply.failed.value, page.value.check.refused.value, dirty.value]).toEqual([
      gone,
      undefined,
      true,
    ])
  })

  it('applies a revision again, and returns whether that succeeded', async () => {
    const { apply } = page.value
    server.applyRevision.mockResolvedValueOnce(applied(3))
    expect(await apply.again(1)).toBe(true)
    const refused = new ApiError('busy', 409)
    server.applyRevision.mockRejectedValueOnce(refused)
    expect(await apply.again(1)).toBe(false)
    expect(apply.failed.value).toBe(refused)
    server.listRevisions.mockClear()
    apply.resetting.value = true
    server.resetConfiguration.mockResolvedValueOnce(applied(4))
    await apply.reset()
    expect([apply.resetting.value, apply.failed.value]).toEqual([false, undefined])
    expect(server.listRevisions).toHaveBeenCalled()
  })
})

describe('starting from another document', () => {
  it('replaces an unchanged draft', () => {
    const { start } = page.value
    start.choosePreset('binPacking')
    expect([draft.value?.text, start.preset.value]).toEqual([presets.binPacking, 'binPacking'])
    start.choosePreset('default')
    expect([start.replacing.value, start.preset.value]).toEqual([undefined, 'default'])
    expect(started).toHaveBeenCalledTimes(2)
  })

  it('asks before it discards changes', () => {
    const { start } = page.value
    start.choosePreset('binPacking')
    write(`${presets.binPacking}# mine\n`)
    start.startFrom('revision: 7\n', '7')
    expect(start.replacing.value).toEqual({ text: 'revision: 7\n', origin: '7' })
    expect(draft.value?.text).toContain('# mine')
    if (start.replacing.value) start.replace(start.replacing.value)
    expect([draft.value?.text, draft.value?.origin, start.replacing.value]).toEqual(['revision: 7\n', '7', undefined])
    expect(start.about.value).toContain('7')
  })

  it('asks before it replaces a draft from an earlier visit', () => {
    if (running.value) draft.value = begin('from: before\n', '', running.value)
    page.value.start.choosePreset('binPacking')
    expect(page.value.start.replacing.value?.origin).toBe('binPacking')
  })

  it('offers the formula only where the server accepts it', async () => {
    page.unmount()
    server.tryConfiguration.mockImplementation((text) =>
      text === presets.celScore ? Promise.reject(invalid()) : Promise.resolve(applied(0))
    )
    await open()
    expect(page.value.start.offered.value).not.toContain('celScore')
    page.unmount()
    server.tryConfiguration.mockResolvedValue(applied(0))
    await open()
    expect(page.value.start.offered.value).toContain('celScore')
  })
})

describe('the user’s presets', () => {
  beforeEach(() => {
    localStorage.clear()
    ownPresets.value = []
  })

  it('store the draft under a name, so that replacing it needs no confirmation', () => {
    const { own, start } = page.value
    write('mine: 1\n')
    start.choosePreset('binPacking')
    expect(start.replacing.value).toBeDefined()
    start.replacing.value = undefined
    own.askToSave()
    own.save('weekend')
    expect([own.saving.value, own.notKept.value, start.ownPreset.value]).toEqual([false, false, 'weekend'])
    expect(ownPresets.value).toEqual([{ name: 'weekend', text: 'mine: 1\n' }])
    start.choosePreset('binPacking')
    expect([start.replacing.value, start.preset.value]).toEqual([undefined, 'binPacking'])
    start.chooseOwn({ name: 'weekend', text: 'mine: 1\n' })
    expect(start.ownPreset.value).toBe('weekend')
  })

  it('report that the browser cannot store one, until the dialog opens again', () => {
    const { own } = page.value
    write('x'.repeat(1_300_000))
    own.askToSave()
    own.save('huge')
    expect([own.saving.value, own.notKept.value, ownPresets.value]).toEqual([true, true, []])
    own.askToSave()
    expect(own.notKept.value).toBe(false)
  })

  it('are deleted by name', () => {
    const { own } = page.value
    own.save('a')
    own.save('b')
    own.dropping.value = 'a'
    own.drop()
    expect([own.dropping.value, ownPresets.value.map((p) => p.name)]).toEqual(['', ['b']])
  })
})

describe('the default document', () => {
  it('is fetched when it is first shown and after a failure, and then cached', async () => {
    const shown = ref(false)
    page.unmount()
    server.getConfiguration.mockClear()
    const asked = () => server.getConfiguration.mock.calls.filter(([which]) => which === 'default').length
    const { value, unmount } = await withSetup(() => useDefaultDocument(shown))
    await flushPromises()
    expect(asked()).toBe(0)
    server.getConfiguration.mockRejectedValueOnce(new Error('gone'))
    shown.value = true
    await flushPromises()
    expect(value.error.value).toEqual(new Error('gone'))
    server.getConfiguration.mockResolvedValue('default: 1\n')
    connection.value = { kind: 'connecting' }
    await flushPromises()
    expect([value.document.value, value.error.value]).toEqual(['default: 1\n', undefined])
    shown.value = false
    await nextTick()
    shown.value = true
    await flushPromises()
    expect(asked()).toBe(2)
    unmount()
  })
})

describe('the dialog of a revision', () => {
  const open = async () => {
    page.value.dialog.show(7)
    await flushPromises()
    return page.value.dialog.open.value
  }

  it('stays open with the error when applying again fails, and clears it when it closes', async () => {
    expect(await open()).toBe(7)
    server.applyRevision.mockRejectedValueOnce(new Error('busy'))
    await page.value.dialog.applyAgain(7)
    await flushPromises()
    expect([page.value.dialog.open.value, page.value.apply.failed.value]).toEqual([7, new Error('busy')])
    page.value.dialog.close()
    await flushPromises()
    expect([page.value.dialog.open.value, page.value.apply.failed.value]).toEqual([undefined, undefined])
  })

  it('closes after the revision was applied again', async () => {
    await open()
    server.applyRevision.mockResolvedValueOnce(applied(8))
    await page.value.dialog.applyAgain(7)
    await flushPromises()
    expect(page.value.dialog.open.value).toBeUndefined()
  })

  it('closes when a draft starts from the revision', async () => {
    await open()
    page.value.dialog.edit('revision: 7\n', 7)
    await flushPromises()
    expect([page.value.dialog.open.value, draft.value?.text, draft.value?.origin]).toEqual([
      undefined,
      'revision: 7\n',
      '7',
    ])
  })
})
