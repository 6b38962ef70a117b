// An import as the server reports it: its progress and its result.

import type { ImportItem, ImportReport } from '@/api/types'
import { finder } from '@/kubernetes/search'

export const concerns = ['failed', 'inactive', 'skipped', 'warnings'] as const
/**
 * The topic of an item in the summary: rejected, imported but inactive, skipped, or imported with a
 * warning.
 */
export type Concern = (typeof concerns)[number]

/** The number of items; the report's lists hold at most 1,000 each. */
export function totalOf(report: ImportReport, concern: Concern): number {
  return report[`${concern}Total`]
}

/** The progress within the current phase, from 0 to 1; undefined while unknown. */
export function shareDone({ done, total }: { done: number; total: number }): number | undefined {
  return total > 0 ? Math.min(1, done / total) : undefined
}

/** namespace/name, or the part of it that exists. */
export function itemName(item: ImportItem): string {
  return item.namespace ? `${item.namespace}/${item.name}` : item.name
}

/** Items that contain every word of text in any of their fields. */
export function filterItems(items: readonly ImportItem[], text: string): readonly ImportItem[] {
  const found = finder(text)
  if (!found) return items
  return items.filter((item) =>
    found(`${item.kind} ${item.apiVersion} ${itemName(item)} ${item.message} ${item.source ?? ''}`)
  )
}

/** Sorted by a column; a leading `-` reverses the order, and equal items keep the order of the import. */
export function sortItems(items: readonly ImportItem[], sort: string): readonly ImportItem[] {
  const by = sort.replace(/^-/, '')
  const keys: Record<string, (item: ImportItem) => string> = {
    kind: (i) => i.kind,
    name: itemName,
    message: (i) => i.message,
    source: (i) => i.source ?? '',
  }
  const key = keys[by]
  if (!key) return items
  const way = sort.startsWith('-') ? -1 : 1
  return [...items].sort((a, b) => way * key(a).localeCompare(key(b), undefined, { numeric: true }))
}

/** Items as lines for a spreadsheet: fields separated by tabs. */
export function itemsAsText(items: readonly ImportItem[]): string {
  const clean = (field: string) => field.replace(/[\t\r\n]+/g, ' ')
  return items
    .map((i) => [i.apiVersion, i.kind, itemName(i), i.message, i.source ?? ''].map(clean).join('\t'))
    .join('\n')
}
