// The objects of the draft, its copies and the dropped files.

import { computed } from 'vue'
import { DocumentReader, type Entry } from '@/features/yaml/model/documents'
import { nodes, pods } from '@/live/watched'
import { copiesOf } from './model/clone'
import { copies, draft } from './store/create'
import { droppedFiles } from './store/files'

export type DraftEntries = ReturnType<typeof useDraftEntries>

export function useDraftEntries() {
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
