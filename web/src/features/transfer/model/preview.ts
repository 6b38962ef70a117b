// A preview of a file to import, as far as it is cheap, before the file is sent. The
// server decides by the content; the preview rejects nothing.

import type { KubeObject } from '@/api/types'
import type { ParsedText } from '@/features/yaml/model/documents'

export type FileNature = 'text' | 'archive' | 'recording' | 'other'

/** The type of a file according to its first bytes. */
export function natureOf(head: Uint8Array): FileNature {
  const starts = (...bytes: number[]) => bytes.every((byte, i) => head[i] === byte)
  // A recording starts with its own signature.
  if (starts(0xb5, 0x6b, 0x72, 0x31)) return 'recording'
  if (starts(0x1f, 0x8b) || starts(0x50, 0x4b, 3, 4) || starts(0x50, 0x4b, 5, 6)) return 'archive'
  const text = new TextDecoder('utf-8', { fatal: false }).decode(head)
  if (text.slice(257, 262) === 'ustar') return 'archive'
  return head.includes(0) ? 'other' : 'text'
}

export interface KindTally {
  kind: string
  count: number
}

export interface Preview {
  kinds: readonly KindTally[]
  configuration: boolean
  /** The number of documents that could not be parsed here. */
  problems: number
  /** The number of recorded decisions in it, which an import skips. */
  results: number
}

/** Kinds and counts of the objects, most first. */
export function previewOf(objects: readonly Pick<KubeObject, 'kind'>[], problems: number): Preview {
  const counts = new Map<string, number>()
  let configuration = false
  for (const { kind = '' } of objects) {
    if (kind === 'KubeSchedulerConfiguration') configuration = true
    else counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return { kinds: tally(counts), configuration, problems, results: 0 }
}

/** The contents of a parsed text. A KubeSchedulerConfiguration is the only document without a name. */
export function previewOfText({ entries, problems }: ParsedText): Preview {
  const nameless = problems.flatMap(({ says }) =>
    says?.key === 'nameMissing' && says.kind === 'KubeSchedulerConfiguration' ? [says] : []
  )
  return previewOf([...entries.map((entry) => entry.object), ...nameless], problems.length - nameless.length)
}

/** The lists in an export of the existing simulator, by name. */
const exported: Readonly<Record<string, string>> = {
  pods: 'Pod',
  nodes: 'Node',
  pvs: 'PersistentVolume',
  pvcs: 'PersistentVolumeClaim',
  storageClasses: 'StorageClass',
  priorityClasses: 'PriorityClass',
  namespaces: 'Namespace',
}

/** The contents of a JSON value: an object, a List or an export; undefined when it is none of them. */
export function previewOfJson(value: unknown): Preview | undefined {
  if (!isRecord(value)) return undefined
  const configuration = isRecord(value.schedulerConfiguration) || isRecord(value.schedulerConfig)
  const results = Array.isArray(value.results) ? value.results.length : 0
  if (typeof value.kind === 'string' && value.kind.endsWith('List') && Array.isArray(value.items)) {
    const own = value.kind.slice(0, -'List'.length)
    const items = value.items.filter(isRecord)
    const found = previewOf(
      items.map((i) => ({ kind: typeof i.kind === 'string' ? i.kind : own })),
      value.items.length - items.length
    )
    return { ...found, configuration: configuration || found.configuration, results }
  }
  if (typeof value.kind === 'string') return previewOf([{ kind: value.kind }], 0)
  const counts = new Map<string, number>()
  for (const [field, kind] of Object.entries(exported)) {
    const items = value[field]
    if (Array.isArray(items) && items.length) counts.set(kind, items.length)
  }
  return counts.size || configuration ? { kinds: tally(counts), configuration, problems: 0, results } : undefined
}

export function addPreviews(previews: readonly Preview[]): Preview {
  const counts = new Map<string, number>()
  for (const { kinds } of previews)
    for (const { kind, count } of kinds) counts.set(kind, (counts.get(kind) ?? 0) + count)
  return {
    kinds: tally(counts),
    configuration: previews.some((p) => p.configuration),
    problems: previews.reduce((n, p) => n + p.problems, 0),
    results: previews.reduce((n, p) => n + p.results, 0),
  }
}

function tally(counts: ReadonlyMap<string, number>): KindTally[] {
  return [...counts]
    .map(([kind, count]) => ({ kind, count }))
    .sort((a, b) => b.count - a.count || a.kind.localeCompare(b.kind))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
