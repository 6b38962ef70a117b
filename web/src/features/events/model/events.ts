// The cluster's Events as a list, newest first.

import type { KubeObject } from '@/api/types'
import { objectKey } from '@/kubernetes/object'
import { finder } from '@/kubernetes/search'

export interface EventRow {
  key: string
  /** RFC 3339; empty when the event has no time. */
  at: string
  type: string
  reason: string
  kind: string
  namespace: string
  name: string
  message: string
  count: number
}

type Raw = Record<string, unknown>
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const recordOf = (value: unknown): Raw => (typeof value === 'object' && value !== null ? (value as Raw) : {})

/**
 * Reads time and count of an event from either API: the series of events.k8s.io or the count of the
 * core API.
 */
function rowOf(event: KubeObject): EventRow {
  const about = recordOf(event.involvedObject ?? event.regarding)
  const series = recordOf(event.series)
  const count = series.count ?? event.count
  return {
    key: objectKey(event),
    at:
      textOf(series.lastObservedTime) ||
      textOf(event.lastTimestamp) ||
      textOf(event.eventTime) ||
      textOf(event.firstTimestamp) ||
      (event.metadata.creationTimestamp ?? ''),
    type: textOf(event.type),
    reason: textOf(event.reason),
    kind: textOf(about.kind),
    namespace: textOf(about.namespace),
    name: textOf(about.name),
    message: textOf(event.message ?? event.note),
    count: typeof count === 'number' && count > 0 ? count : 1,
  }
}

const rows = new WeakMap<KubeObject, EventRow>()

export function eventRows(events: Iterable<KubeObject>): EventRow[] {
  const out: EventRow[] = []
  for (const event of events) {
    let row = rows.get(event)
    if (!row) rows.set(event, (row = rowOf(event)))
    out.push(row)
  }
  return out.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.key < b.key ? -1 : 1))
}

/** The events with every word, from `since` up to but excluding `until` (RFC 3339) if given. */
export function filterEvents(
  all: readonly EventRow[],
  text: string,
  { since, until }: { since?: string; until?: string } = {}
): readonly EventRow[] {
  const found = finder(text)
  const from = since ? Date.parse(since) : undefined
  const to = until ? Date.parse(until) : undefined
  if (!found && from === undefined && to === undefined) return all
  return all.filter((row) => {
    const at = Date.parse(row.at)
    if ((from !== undefined && !(at >= from)) || (to !== undefined && !(at < to))) return false
    return !found || found(`${row.type} ${row.reason} ${row.kind} ${row.namespace}/${row.name} ${row.message}`)
  })
}
