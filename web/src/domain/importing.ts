// An import as the server tells of it: how far it is, and what came of it. What the server
// sends is read here once; everything else trusts it.

export type ImportPhase = 'reading' | 'clearing' | 'applying' | 'settling'
const phases: readonly ImportPhase[] = ['reading', 'clearing', 'applying', 'settling']

export interface ImportProgress {
  phase: ImportPhase
  done: number
  /** 0 while it is not known. */
  total: number
  kind: string
}

export interface ImportItem {
  /** A file in the archive, the number of a document. */
  source: string
  apiVersion: string
  kind: string
  namespace: string
  name: string
  message: string
}

export interface KindCount {
  apiVersion: string
  kind: string
  created: number
  updated: number
  unchanged: number
  failed: number
  skipped: number
}

export const concerns = ['failed', 'skipped', 'warnings'] as const
/** What a line of the summary is about: refused, left out, or imported with a remark. */
export type Concern = (typeof concerns)[number]

export interface ImportReport {
  mode: 'merge' | 'replace'
  reschedule: boolean
  startTime: string
  durationSeconds: number
  read: number
  created: number
  updated: number
  unchanged: number
  deleted: number
  kinds: readonly KindCount[]
  /** At most 1,000 of each; totals says how many there were. */
  items: Readonly<Record<Concern, readonly ImportItem[]>>
  totals: Readonly<Record<Concern, number>>
  configuration?: { applied: boolean; revision: number; message: string; removed: readonly { field: string; message: string }[] }
}

export type ImportState = 'none' | 'running' | 'finished' | 'failed' | 'cancelled'

/** GET /api/v1/import. */
export interface ImportNow {
  state: ImportState
  progress?: ImportProgress
  report?: ImportReport
  error?: ImportError
}

export interface ImportError {
  message: string
  details: readonly string[]
}

/** A line of the stream that POST /api/v1/import answers with. */
export type ImportLine = { progress: ImportProgress } | { report: ImportReport } | { error: ImportError }

type Raw = Record<string, unknown>
const isRecord = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value)
const record = (value: unknown): Raw => (isRecord(value) ? value : {})
const list = (value: unknown): Raw[] => (Array.isArray(value) ? value.filter(isRecord) : [])
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)

export function readLine(value: unknown): ImportLine | undefined {
  const line = record(value)
  if (isRecord(line.progress)) return { progress: readProgress(line.progress) }
  if (isRecord(line.report)) return { report: readReport(line.report) }
  return isRecord(line.error) ? { error: readError(line.error) } : undefined
}

export function readImport(value: unknown): ImportNow {
  const now = record(value)
  const states: readonly ImportState[] = ['running', 'finished', 'failed', 'cancelled']
  return {
    state: states.find((s) => s === now.state) ?? 'none',
    ...(isRecord(now.progress) ? { progress: readProgress(now.progress) } : {}),
    ...(isRecord(now.report) ? { report: readReport(now.report) } : {}),
    ...(isRecord(now.error) ? { error: readError(now.error) } : {}),
  }
}

function readProgress(raw: Raw): ImportProgress {
  return { phase: phases.find((p) => p === raw.phase) ?? 'reading', done: number(raw.done), total: number(raw.total), kind: text(raw.kind) }
}

export function readReport(raw: Raw): ImportReport {
  const items = { failed: list(raw.failed).map(readItem), skipped: list(raw.skipped).map(readItem), warnings: list(raw.warnings).map(readItem) }
  const total = (concern: Concern) => Math.max(number(raw[`${concern}Total`]), items[concern].length)
  const configuration = isRecord(raw.configuration) ? raw.configuration : undefined
  return {
    mode: raw.mode === 'replace' ? 'replace' : 'merge',
    reschedule: raw.reschedule === true,
    startTime: text(raw.startTime),
    durationSeconds: number(raw.durationSeconds),
    read: number(raw.read),
    created: number(raw.created),
    updated: number(raw.updated),
    unchanged: number(raw.unchanged),
    deleted: number(raw.deleted),
    kinds: list(raw.kinds).map((k) => ({ apiVersion: text(k.apiVersion), kind: text(k.kind), created: number(k.created), updated: number(k.updated), unchanged: number(k.unchanged), failed: number(k.failed), skipped: number(k.skipped) })),
    items,
    totals: { failed: total('failed'), skipped: total('skipped'), warnings: total('warnings') },
    ...(configuration
      ? {
          configuration: {
            applied: configuration.applied === true,
            revision: number(configuration.revision),
            message: text(configuration.message),
            removed: list(configuration.removed).map((r) => ({ field: text(r.field), message: text(r.message) })),
          },
        }
      : {}),
  }
}

function readItem(raw: Raw): ImportItem {
  return { source: text(raw.source), apiVersion: text(raw.apiVersion), kind: text(raw.kind), namespace: text(raw.namespace), name: text(raw.name), message: text(raw.message) }
}

function readError(raw: Raw): ImportError {
  const details = Array.isArray(raw.details) ? raw.details : []
  return {
    message: text(raw.message),
    details: details.flatMap((d: unknown) => (typeof d === 'string' ? [d] : isRecord(d) && typeof d.message === 'string' ? [[text(d.field), d.message].filter(Boolean).join(': ')] : [])),
  }
}

/** How far it is within its phase, from 0 to 1; undefined while that is not known. */
export function shareDone({ done, total }: { done: number; total: number }): number | undefined {
  return total > 0 ? Math.min(1, done / total) : undefined
}

/** namespace/name, or what there is of it. */
export function itemName(item: ImportItem): string {
  return item.namespace ? `${item.namespace}/${item.name}` : item.name
}

/** Items that hold every word of text, in whatever is said of them. */
export function filterItems(items: readonly ImportItem[], text: string): readonly ImportItem[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.length) return items
  return items.filter((item) => {
    const all = `${item.kind} ${item.apiVersion} ${itemName(item)} ${item.message} ${item.source}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
}

/** Sorted by a column, `-` in front for the other way; equals stay in the order of the import. */
export function sortItems(items: readonly ImportItem[], sort: string): readonly ImportItem[] {
  const by = sort.replace(/^-/, '')
  const keys: Record<string, (item: ImportItem) => string> = { kind: (i) => i.kind, name: itemName, message: (i) => i.message, source: (i) => i.source }
  const key = keys[by]
  if (!key) return items
  const way = sort.startsWith('-') ? -1 : 1
  return [...items].sort((a, b) => way * key(a).localeCompare(key(b), undefined, { numeric: true }))
}

/** Items as lines that a table program takes: fields by tabs. */
export function itemsAsText(items: readonly ImportItem[]): string {
  const clean = (field: string) => field.replace(/[\t\r\n]+/g, ' ')
  return items.map((i) => [i.apiVersion, i.kind, itemName(i), i.message, i.source].map(clean).join('\t')).join('\n')
}
