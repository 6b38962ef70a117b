// The objects of the draft, its copies and the dropped files.

import { computed, type ComputedRef } from 'vue'
import { DocumentReader, type Entry, type ParsedText } from '@/features/yaml/model/documents'
import { nodes, pods } from '@/live/watched'
import { copiesOf, type Copies } from './model/clone'
import { copies, draft } from './store/create'
import { droppedFiles } from './store/files'

export interface DraftEntries {
  parsed: ComputedRef<ParsedText>
  /** The objects of the draft, including copies. */
  made: ComputedRef<Copies>
  /** The number of all objects, including those in files. */
  count: ComputedRef<number>
  /** A file is still being read. */
  reading: ComputedRef<boolean>
  /** All objects, with consecutive indexes. */
  entries(): Entry[]
}

export function useDraftEntries(): DraftEntries {
  const reader = new DocumentReader()
  const parsed = computed(() => reader.parse(draft.value))
  const taken = (entry: Entry, name: string) =>
    entry.kind === 'Node'
      ? nodes.value.items.has(name)
      : entry.kind === 'Pod' && pods.value.items.has(`${entry.namespace ?? 'default'}/${name}`)
  const made = computed(() => copiesOf(parsed.value.entries, copies.value, taken))
  const fileEntries = computed(() => droppedFiles.value.reduce((n, f) => n + f.entries.length, 0))
  return {
    parsed,
    made,
    count: computed(() => made.value.entries.length + fileEntries.value),
    reading: computed(() => droppedFiles.value.some((f) => f.state === 'reading')),
    entries: () =>
      [...made.value.entries, ...droppedFiles.value.flatMap((f) => f.entries)].map((entry, index) => ({
        ...entry,
        index,
      })),
  }
}
