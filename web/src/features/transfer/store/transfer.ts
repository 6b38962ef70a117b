// Export, import and reset: the open dialog and the running import. The import survives
// its dialog, and on the server it survives the page.

import { promiseTimeout } from '@vueuse/core'
import { computed, ref, shallowRef, watch } from 'vue'
import { ApiError } from '@/api/http'
import { messageOf } from '@/api/message'
import * as api from '@/api/transfer'
import type { ImportOptions } from '@/api/transfer'
import type { ImportLine, ImportMode, ImportProgress, ImportReport, ServerError } from '@/api/types'
import { LineReader } from '../model/ndjson'
import { operation } from '@/live/operation'

// ── dialogs ─────────────────────────────────────────────────────────────
export type TransferDialog = 'import' | 'export' | 'reset' | 'inactive'
export const transferDialog = ref<TransferDialog>()
/** Files dropped on the window, for the dialog to take over. */
export const offered = shallowRef<readonly ImportFile[]>([])

/** A file, with its path if it came in a folder. */
export interface ImportFile {
  file: File
  path: string
}

export function openImport(files: readonly ImportFile[] = []): void {
  offered.value = files
  transferDialog.value = 'import'
}

// ── the import ──────────────────────────────────────────────────────────
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
  | { kind: 'uploading'; sent: number; total: number }
  | { kind: 'running'; progress: ImportProgress | undefined }
  | { kind: 'finished'; report: ImportReport }
  | { kind: 'failed'; error: ImportFailure; report: ImportReport | undefined }
  | { kind: 'cancelled'; report: ImportReport | undefined }

export const importRun = shallowRef<ImportRun>({ kind: 'idle' })
export const importing = computed(() => importRun.value.kind === 'uploading' || importRun.value.kind === 'running')
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
      sent: (sent, total) => {
        if (importRun.value.kind !== 'uploading') return
        importRun.value =
          total && sent >= total ? { kind: 'running', progress: undefined } : { kind: 'uploading', sent, total }
      },
      received: (part) => take(lines.read(part)),
    })
    take(lines.end())
    // The stream ended without a report: ask for the report so far.
    if (!hasReport()) await followImport()
  } catch (error) {
    await failed(error)
  }
}

const hasReport = () => importRun.value.kind === 'finished'
function takeLine({ progress, report }: ImportLine): void {
  if (progress) importRun.value = { kind: 'running', progress }
  // At the end of the stream, report the error together with what was imported.
  else if (report) importRun.value = { kind: 'finished', report }
}

async function failed(error: unknown): Promise<void> {
  if (error instanceof DOMException && error.name === 'AbortError') {
    importRun.value = { kind: 'cancelled', report: undefined }
    return
  }
  // The server continues without us: ask for its progress.
  const lost = !(error instanceof ApiError) || error.code === 0
  if (lost && importRun.value.kind === 'running') return followImport()
  const details = error instanceof ApiError ? error.details : []
  importRun.value = { kind: 'failed', error: { message: messageOf(error), details }, report: undefined }
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

/** Stops sending, or asks the server to stop. */
export async function cancelImport(): Promise<void> {
  if (importRun.value.kind === 'uploading') {
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
