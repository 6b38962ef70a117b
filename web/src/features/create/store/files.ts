// Files dropped on the create dialog that are too large for the editor. Like the draft,
// they survive closing the dialog.

import { shallowRef } from 'vue'
import { lazily } from '@/ui/lazily'
import type { Entry, Problem } from '@/features/yaml/model/documents'
import type { WorkerMessage } from './parse.worker'
import parserURL from './parse.worker?worker&url'

// The browser's cache then has it when the server is away.
lazily(() => fetch(parserURL))

export interface DroppedFile {
  id: number
  name: string
  size: number
  state: 'reading' | 'read' | 'failed'
  /** From 0 to 1. */
  progress: number
  entries: readonly Entry[]
  problems: readonly Problem[]
  message: string
}

/** Files up to this size (bytes) open in the editor. */
export const editorLimit = 512 * 1024
/** Larger files are rejected: the page would run out of memory. */
export const fileLimit = 256 * 2 ** 20

export const droppedFiles = shallowRef<readonly DroppedFile[]>([])
const workers = new Map<number, Worker>()
let next = 1

/** Reads a file in a worker; droppedFiles shows the progress. */
export function addFile(file: File): void {
  const id = next++
  const entries: Entry[] = []
  droppedFiles.value = [
    ...droppedFiles.value,
    { id, name: file.name, size: file.size, state: 'reading', progress: 0, entries, problems: [], message: '' },
  ]
  const worker = new Worker(parserURL, { type: 'module' })
  workers.set(id, worker)
  const fail = (message: string) => {
    end(id)
    change(id, { state: 'failed', message })
  }
  worker.onerror = (event) => fail(event.message || 'the file could not be read')
  worker.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
    if (data.type === 'failed') return fail(data.message)
    if (data.type === 'progress') {
      for (const entry of data.entries) entries.push({ ...entry, file: file.name, lineOf: () => entry.line })
      return change(id, { progress: data.total ? data.done / data.total : 1 })
    }
    end(id)
    change(id, { state: 'read', progress: 1, problems: data.problems.map((p) => ({ ...p, file: file.name })) })
  }
  worker.postMessage(file)
}

export function removeFile(id: number): void {
  end(id)
  droppedFiles.value = droppedFiles.value.filter((f) => f.id !== id)
}

export function removeFiles(): void {
  for (const { id } of droppedFiles.value) removeFile(id)
}

function end(id: number): void {
  workers.get(id)?.terminate()
  workers.delete(id)
}

function change(id: number, by: Partial<DroppedFile>): void {
  droppedFiles.value = droppedFiles.value.map((f) => (f.id === id ? { ...f, ...by } : f))
}
