// Export, import and reset: the open dialog and the running import. The import survives
// its dialog, and on the server it survives the page.

import { promiseTimeout } from '@vueuse/core'
import { computed, ref, shallowRef, watch } from 'vue'
import type { Branch, BranchRequest } from '@/api/branches'
import { ApiError } from '@/api/http'
import { messageOf } from '@/api/message'
import { loadRecording } from '@/api/replay'
import * as api from '@/api/transfer'
import type { ImportOptions } from '@/api/transfer'
import type { ImportLine, ImportMode, ImportProgress, ImportReport, ServerError } from '@/api/types'
import { titleOf } from '@/features/branch/model/workspaces'
import { makeWith } from '@/features/branch/store/branches'
import { recordingChosen } from '@/features/replay/store/replay'
import { t } from '@/i18n'
import { notify } from '@/ui/notices'
import { LineReader } from '../model/ndjson'
import { operation } from '@/live/operation'

// Dialogs.
export type TransferDialog = 'import' | 'export' | 'reset' | 'inactive'
export const transferDialog = ref<TransferDialog>()
/** Files dropped on the window, for the dialog to take over. */
export const offered = shallowRef<readonly ImportFile[]>([])

/** A file, with its path if it came in a folder. */
export interface ImportFile {
  file: File
  path: string
}

/** The title of the workspace to import into; undefined if none was asked for yet. */
export const workspaceTitle = ref<string>()

export function openImport(files: readonly ImportFile[] = [], title?: string): void {
  offered.value = files
  workspaceTitle.value = title
  transferDialog.value = 'import'
}
watch(recordingChosen, (file) => {
  if (file) openImport([{ file, path: file.name }])
  recordingChosen.value = undefined
})

// The import.
export interface ImportFailure {
  message: string
  /** One line for each part of the reason. */
  details: readonly string[]
}
const failureOf = ({ message, details }: ServerError): ImportFailure => ({
  message,
  details: details.map((d) => (d.field ? `${d.field}: ${d.message}` : d.message)),
})

export type ImportRun =
  | { kind: 'idle' }
  /** A workspace is starting, for the import. */
  | { kind: 'opening' }
  | { kind: 'uploading'; sent: number; total: number }
  | { kind: 'running'; progress: ImportProgress | undefined }
  | { kind: 'finished'; report: ImportReport }
  | { kind: 'failed'; error: ImportFailure; report: ImportReport | undefined }
  | { kind: 'cancelled'; report: ImportReport | undefined }

export const importRun = shallowRef<ImportRun>({ kind: 'idle' })
export const importing = computed(() => ['opening', 'uploading', 'running'].includes(importRun.value.kind))
/** The running import goes into a workspace, and is shown there once its input is read. */
export const intoWorkspace = ref(false)
/** The mode of the running import; undefined for one that this page did not start. */
export const importMode = ref<ImportMode>()
let abort: AbortController | undefined
const askEvery = 700

/** Sends the input and follows the import until it ends. */
export async function startImport(body: Blob | FormData, options: ImportOptions): Promise<void> {
  if (importing.value) return
  abort = new AbortController()
  importMode.value = options.mode
  const lines = new LineReader()
  importRun.value = { kind: 'uploading', sent: 0, total: body instanceof Blob ? body.size : 0 }
  const take = (values: unknown[]) => {
    for (const value of values) takeLine(value as ImportLine)
  }
  try {
    await api.sendImport(body, options, {
      signal: abort.signal,
      sent,
      received: (part) => take(lines.read(part)),
    })
    take(lines.end())
    // The stream ended without a report: ask for the report so far.
    if (!hasReport()) await followImport()
  } catch (error) {
    await failed(error)
  }
}

function sent(sent: number, total: number): void {
  if (importRun.value.kind !== 'uploading') return
  importRun.value =
    total && sent >= total ? { kind: 'running', progress: undefined } : { kind: 'uploading', sent, total }
}

/** Imports into a new workspace, and shows it as soon as the server has read the input. */
export const importIntoWorkspace = (workspace: BranchRequest, body: Blob | FormData, reschedule: boolean) =>
  bringIntoWorkspace(workspace, body, 'import', (at, signal) => untilRead(body, reschedule, { at, signal }))

/** Loads a recording in a new workspace, and shows its replay. */
export const replayInWorkspace = (workspace: BranchRequest, file: File) =>
  bringIntoWorkspace(workspace, file, 'replay', async (at, signal) => {
    await loadRecording(file.name, file, { at, signal, sent })
  })

async function bringIntoWorkspace(
  workspace: BranchRequest,
  body: Blob | FormData,
  page: string,
  bring: (at: string, signal: AbortSignal) => Promise<void>
): Promise<void> {
  if (importing.value) return
  const { signal } = (abort = new AbortController())
  intoWorkspace.value = true
  importRun.value = { kind: 'opening' }
  try {
    const made = await makeWith(
      workspace,
      (at) => {
        importRun.value = { kind: 'uploading', sent: 0, total: body instanceof Blob ? body.size : 0 }
        return bring(at, signal)
      },
      signal
    )
    importRun.value = { kind: 'idle' }
    show(made, page)
  } catch (error) {
    importRun.value = unfinished(error)
  } finally {
    intoWorkspace.value = false
  }
}

/** Whoever has closed the dialog does something else meanwhile. */
function show(made: Branch, page: string): void {
  const go = () => window.location.assign(made.path + page)
  if (transferDialog.value === 'import') go()
  else notify('done', t('transfer.inWorkspace', { name: titleOf(made) }), { label: t('transfer.goThere'), run: go })
}

/** Sends the input, and resolves when the server has read it. The import goes on there. */
function untilRead(body: Blob | FormData, reschedule: boolean, to: { at: string; signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    const lines = new LineReader()
    const take = (values: unknown[]) => {
      for (const { progress, report, error } of values as ImportLine[]) {
        if (error) reject(new ApiError(error.message, 400, [...failureOf(error).details]))
        else if (report || (progress && progress.phase !== 'reading')) resolve()
        else if (progress) importRun.value = { kind: 'running', progress }
      }
    }
    api
      .sendImport(body, { mode: 'merge', reschedule }, { ...to, sent, received: (part) => take(lines.read(part)) })
      .then(() => take(lines.end()))
      .then(resolve, reject)
  })
}

const hasReport = () => importRun.value.kind === 'finished'
function takeLine({ progress, report }: ImportLine): void {
  if (progress) importRun.value = { kind: 'running', progress }
  // At the end of the stream, report the error together with what was imported.
  else if (report) importRun.value = { kind: 'finished', report }
}

function unfinished(error: unknown): ImportRun {
  if (error instanceof DOMException && error.name === 'AbortError') return { kind: 'cancelled', report: undefined }
  const details = error instanceof ApiError ? error.details : []
  return { kind: 'failed', error: { message: messageOf(error), details }, report: undefined }
}

async function failed(error: unknown): Promise<void> {
  // The server continues without us: ask for its progress.
  const lost = !(error instanceof ApiError) || error.code === 0
  if (lost && importRun.value.kind === 'running') return followImport()
  importRun.value = unfinished(error)
}

let following: Promise<void> | undefined
/** Polls the server for the running import until it ends. */
function followImport(): Promise<void> {
  following ??= follow().finally(() => {
    following = undefined
  })
  return following
}
async function follow(): Promise<void> {
  for (let misses = 0; misses < 60;) {
    try {
      const now = await api.getImport()
      misses = 0
      if (now.state === 'running') importRun.value = { kind: 'running', progress: now.progress }
      else if (now.state === 'finished' && now.report)
        return void (importRun.value = { kind: 'finished', report: now.report })
      else if (now.state === 'cancelled') return void (importRun.value = { kind: 'cancelled', report: now.report })
      else if (now.state === 'failed')
        return void (importRun.value = {
          kind: 'failed',
          error: now.error ? failureOf(now.error) : { message: '', details: [] },
          report: now.report,
        })
      else return void (importRun.value = { kind: 'idle' })
    } catch (error) {
      misses++
      if (error instanceof ApiError && !error.unavailable)
        return void (importRun.value = {
          kind: 'failed',
          error: { message: error.message, details: error.details },
          report: undefined,
        })
    }
    await promiseTimeout(askEvery)
  }
  importRun.value = { kind: 'idle' }
}

/**
 * Loads an import that this page has not followed: it follows a running one, and shows the last one
 * on request.
 */
export async function lookForImport(): Promise<void> {
  if (importing.value) return
  const now = await api.getImport()
  if (now.state === 'running') {
    importMode.value = undefined
    return void followImport()
  }
  lastImport.value = now.state === 'finished' ? now.report : undefined
}
export const lastImport = shallowRef<ImportReport>()

/** Opens the report of the last import, or follows the one that runs. */
export async function openReport(): Promise<void> {
  await lookForImport().catch(() => {})
  if (lastImport.value && !importing.value) importRun.value = { kind: 'finished', report: lastImport.value }
  openImport()
}

/** Stops sending, or asks the server to stop. */
export async function cancelImport(): Promise<void> {
  if (intoWorkspace.value || importRun.value.kind === 'uploading') {
    abort?.abort()
    return
  }
  try {
    await api.cancelImport()
    await followImport()
  } catch (error) {
    // The import ended before it could be cancelled.
    if (!(error instanceof ApiError) || error.code !== 404) throw error
    await followImport()
  }
}

export function forgetImport(): void {
  if (!importing.value) importRun.value = { kind: 'idle' }
}

// Started before this page was loaded, or by another client: follow it from here.
watch(
  () => operation.value?.kind === 'import',
  (runs) => {
    if (!runs || importing.value) return
    importMode.value = undefined
    void followImport()
  }
)
