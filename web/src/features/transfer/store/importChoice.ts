// The input that the user chose to import (files, a folder, an archive, pasted text), and
// a preview of it, as far as it is cheap.

import { useTimeoutFn } from '@vueuse/core'
import { computed, shallowRef, watch } from 'vue'
import { parse } from 'yaml'
import { messageOf } from '@/api/message'
import type { ImportMode } from '@/api/types'
import { parseText } from '@/features/yaml/model/documents'
import { useTurns } from '@/live/answer'
import { addPreviews, natureOf, previewOfText, previewOfJson, type FileNature, type Preview } from '../model/preview'
import type { ImportFile } from './transfer'

/** Up to this size (bytes, all files together), the browser previews the texts. */
export const lookLimit = 768 * 1024
const jsonLimit = 8 * 2 ** 20
const headLength = 512

/** nothing: nothing chosen. opaque: only the server can read it. */
export type Look =
  | { kind: 'nothing' | 'looking' | 'archive' | 'large' }
  | { kind: 'recording'; file: ImportFile }
  | { kind: 'seen'; preview: Preview }
  | { kind: 'unreadable'; name: string; message: string }

/** Where the objects go: into a workspace, or into this cluster in one of two ways. */
export type Place = 'workspace' | ImportMode

export type ImportChoice = ReturnType<typeof useImportChoice>

export function useImportChoice() {
  const files = shallowRef<readonly ImportFile[]>([])
  const text = shallowRef('')
  const look = shallowRef<Look>({ kind: 'nothing' })
  const size = computed(() => files.value.reduce((sum, { file }) => sum + file.size, 0) + text.value.length)

  const turns = useTurns()
  const soon = useTimeoutFn(
    async () => {
      const signal = turns.next()
      const found = await lookInto(files.value, text.value)
      if (!signal.aborted) look.value = found
    },
    150,
    { immediate: false }
  )
  watch([files, text], () => {
    turns.end()
    soon.stop()
    look.value = { kind: files.value.length || text.value.trim() ? 'looking' : 'nothing' }
    if (look.value.kind === 'looking') soon.start()
  })

  return {
    files,
    text,
    look,
    size,
    add(more: readonly ImportFile[]) {
      const known = new Map(files.value.map((f) => [f.path, f]))
      for (const each of more) known.set(each.path, each)
      files.value = [...known.values()]
    },
    remove(path: string) {
      files.value = files.value.filter((f) => f.path !== path)
    },
    clear() {
      files.value = []
      text.value = ''
    },
    /** The input to send; undefined while nothing is chosen. */
    body() {
      const pasted = text.value.trim() ? new File([text.value], 'pasted.yaml', { type: 'application/yaml' }) : undefined
      const all = [...files.value, ...(pasted ? [{ file: pasted, path: pasted.name }] : [])]
      const [only] = all
      if (!only) return undefined
      if (all.length === 1) return only.file
      const form = new FormData()
      for (const { file, path } of all) form.append('file', file, path)
      return form
    },
  }
}

async function lookInto(files: readonly ImportFile[], text: string): Promise<Look> {
  const natures: FileNature[] = []
  for (const one of files) {
    try {
      const nature = natureOf(new Uint8Array(await one.file.slice(0, headLength).arrayBuffer()))
      if (nature === 'recording') return { kind: 'recording', file: one }
      natures.push(nature)
    } catch (error) {
      return { kind: 'unreadable', name: one.path, message: messageOf(error) }
    }
  }
  if (natures.some((n) => n !== 'text')) return { kind: 'archive' }
  const size = files.reduce((sum, { file }) => sum + file.size, text.length)
  if (size > jsonLimit) return { kind: 'large' }
  const previews: Preview[] = []
  for (const part of [...files.map(({ file }) => file), ...(text.trim() ? [text] : [])]) {
    const preview = lookIntoText(typeof part === 'string' ? part : await part.text(), size)
    if (!preview) return { kind: 'large' }
    previews.push(preview)
  }
  return { kind: 'seen', preview: addPreviews(previews) }
}

function lookIntoText(text: string, all: number): Preview | undefined {
  if (/^\s*\{/.test(text)) {
    try {
      const found = previewOfJson(JSON.parse(text))
      if (found) return found
    } catch {
      // Several documents, or YAML in braces: parsed as YAML below.
    }
  }
  if (all > lookLimit) return undefined
  const parsed = parseText(text)
  const found = previewOfText(parsed)
  // An export is a List with further fields.
  if (parsed.entries.length || found.configuration)
    return { ...found, configuration: found.configuration || /^schedulerConfiguration:/m.test(text) }
  return yamlPreview(text) ?? found
}

/**
 * The contents of a single YAML document that is not a Kubernetes object, such as an export of the
 * existing simulator.
 */
function yamlPreview(text: string): Preview | undefined {
  try {
    return previewOfJson(parse(text))
  } catch {
    return undefined
  }
}
