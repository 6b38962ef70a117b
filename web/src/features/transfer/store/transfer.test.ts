import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as branches from '@/api/branches'
import type { Branch, BranchRequest } from '@/api/branches'
import { ApiError } from '@/api/http'
import * as replays from '@/api/replay'
import * as api from '@/api/transfer'
import { mockFunctions } from '@/ui/testing'
import { notices } from '@/ui/notices'
import {
  cancelImport,
  forgetImport,
  importIntoWorkspace,
  importRun,
  replayInWorkspace,
  transferDialog,
} from './transfer'

mockFunctions(api)
mockFunctions(branches)
mockFunctions(replays)

const branch = (state: Branch['state'], message?: string): Branch => ({
  name: 'openb',
  purpose: 'import',
  createdAt: '2026-01-01T10:00:00Z',
  state,
  path: '/branches/openb/',
  kubeconfig: '',
  bytes: 0,
  ...(message ? { message } : {}),
})
const request: BranchRequest = { title: 'openb', purpose: 'import', objects: [] }
const file = new File(['kind: Node'], 'openb.yaml')
const assign = vi.fn()
const line = (value: object) => `${JSON.stringify(value)}\n`
/** The server answers the upload with these lines, and then does not end the answer. */
const answer = (...lines: object[]) =>
  vi.mocked(api.sendImport).mockImplementation((_body, _options, on) => {
    for (const one of lines) on.received(line(one))
    return new Promise((_, reject) =>
      on.signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
    )
  })

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('location', { assign, pathname: '/' })
  vi.mocked(branches.createBranch).mockResolvedValue(branch('starting'))
  vi.mocked(branches.listBranches).mockResolvedValue([branch('running')])
  vi.mocked(branches.deleteBranch).mockResolvedValue()
  transferDialog.value = 'import'
})
afterEach(() => {
  forgetImport()
  notices.value = []
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.clearAllMocks()
})

describe('an import into a workspace', () => {
  it('is sent to the workspace once that runs, which shows it as soon as the input is read', async () => {
    vi.mocked(branches.listBranches).mockResolvedValueOnce([branch('starting')])
    answer(
      { progress: { phase: 'reading', done: 7, total: 0 } },
      { progress: { phase: 'applying', done: 0, total: 7 } }
    )
    const done = importIntoWorkspace(request, file, true)
    expect(importRun.value.kind).toBe('opening')
    await vi.advanceTimersByTimeAsync(500)
    expect(api.sendImport).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(500)
    await done
    expect(branches.createBranch).toHaveBeenCalledWith(request)
    const [body, options, on] = vi.mocked(api.sendImport).mock.calls[0] ?? []
    expect([body, options, on?.at]).toEqual([file, { mode: 'merge', reschedule: true }, '/branches/openb'])
    expect(assign).toHaveBeenCalledWith('/branches/openb/import')
    expect(branches.deleteBranch).not.toHaveBeenCalled()
    expect(importRun.value.kind).toBe('idle')
  })

  it('does not take a user along who has closed the dialog', async () => {
    answer({ progress: { phase: 'applying', done: 0, total: 7 } })
    const done = importIntoWorkspace(request, file, false)
    transferDialog.value = undefined
    await vi.advanceTimersByTimeAsync(500)
    await done
    expect(assign).not.toHaveBeenCalled()
    notices.value[0]?.actions[0]?.run()
    expect(assign).toHaveBeenCalledWith('/branches/openb/import')
  })

  it.each([
    ['the input cannot be read', () => answer({ error: { message: 'not YAML', details: [{ message: 'line 3' }] } })],
    ['the connection is lost', () => vi.mocked(api.sendImport).mockRejectedValue(new ApiError('lost', 0))],
    ['the workspace fails', () => vi.mocked(branches.listBranches).mockResolvedValue([branch('failed', 'no room')])],
    ['somebody deletes it', () => vi.mocked(branches.listBranches).mockResolvedValue([])],
  ])('leaves no workspace if %s', async (_, arrange) => {
    arrange()
    const done = importIntoWorkspace(request, file, false)
    await vi.advanceTimersByTimeAsync(500)
    await done
    expect(importRun.value.kind).toBe('failed')
    expect(branches.deleteBranch).toHaveBeenCalledExactlyOnceWith('openb')
    expect(assign).not.toHaveBeenCalled()
    expect(api.getImport).not.toHaveBeenCalled()
  })

  it('says why no workspace can be made', async () => {
    vi.mocked(branches.createBranch).mockRejectedValue(new ApiError('four run already', 409))
    await importIntoWorkspace(request, file, false)
    expect(importRun.value).toMatchObject({ kind: 'failed', error: { message: 'four run already' } })
    expect(branches.deleteBranch).not.toHaveBeenCalled()
  })

  it.each(['opening', 'running'])('can be stopped while it is %s, which stops nothing here', async (state) => {
    answer({ progress: { phase: 'reading', done: 7, total: 0 } })
    const done = importIntoWorkspace(request, file, false)
    if (state === 'running') await vi.advanceTimersByTimeAsync(500)
    else await flushPromises()
    expect(importRun.value.kind).toBe(state)
    await cancelImport()
    await vi.advanceTimersByTimeAsync(500)
    await done
    expect(importRun.value.kind).toBe('cancelled')
    expect(branches.deleteBranch).toHaveBeenCalledOnce()
    expect(api.cancelImport).not.toHaveBeenCalled()
  })
})

it('loads a recording in a workspace, which shows its replay', async () => {
  vi.mocked(replays.loadRecording).mockResolvedValue({} as never)
  const done = replayInWorkspace({ ...request, purpose: 'replay' }, file)
  await vi.advanceTimersByTimeAsync(500)
  await done
  expect(vi.mocked(replays.loadRecording).mock.calls[0]?.[2].at).toBe('/branches/openb')
  expect(assign).toHaveBeenCalledWith('/branches/openb/replay')
})
