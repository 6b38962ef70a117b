// Tables as the API server renders them for kubectl, with columns and cells of any kind:
// reading them, storing rows by key, sorting and filtering.

import { parseQuantity } from '@/kubernetes/quantity'
import { ageOf } from '@/kubernetes/time'

export interface TableColumn {
  /** The server's name, such as "Nominated Node". */
  name: string
  type: string
  description: string
  /** 0 is always shown; kubectl shows higher priorities only with -o wide. */
  priority: number
  /** The column's index in a row's cells. */
  index: number
}

export type Cell = string | number | boolean | null

export interface TableRow {
  /** namespace/name, or only the name. */
  key: string
  name: string
  namespace: string | undefined
  uid: string | undefined
  created: string | undefined
  labels: Readonly<Record<string, string>>
  cells: readonly Cell[]
}

/** The API server's Table, with only the fields that we read. */
export interface RawTable {
  metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number }
  columnDefinitions?: { name: string; type?: string; description?: string; priority?: number }[] | null
  rows?: RawRow[] | null
}
export interface RawRow {
  cells: Cell[]
  object?: {
    metadata?: {
      name?: string
      namespace?: string
      uid?: string
      creationTimestamp?: string
      labels?: Record<string, string>
    }
  } | null
}

export function readColumns(table: RawTable): TableColumn[] | undefined {
  if (!table.columnDefinitions?.length) return undefined
  return table.columnDefinitions.map((c, index) => ({
    name: c.name,
    type: c.type ?? 'string',
    description: c.description ?? '',
    priority: c.priority ?? 0,
    index,
  }))
}

/** Rows without an object take the name from their first cell, and the given namespace. */
export function readRow(row: RawRow, namespace: string | undefined): TableRow | undefined {
  const metadata = row.object?.metadata
  const name = metadata?.name ?? (typeof row.cells[0] === 'string' ? row.cells[0] : '')
  if (!name) return undefined
  const space = metadata?.namespace ?? namespace
  return {
    key: space ? `${space}/${name}` : name,
    name,
    namespace: space,
    uid: metadata?.uid,
    created: metadata?.creationTimestamp,
    labels: metadata?.labels ?? {},
    cells: row.cells,
  }
}

/** The visible columns. Adds a namespace column, as `kubectl get -A` does. */
export interface ShownColumn {
  /** For URLs: the name in lower case, words joined by "-". */
  id: string
  title: string
  description: string
  numeric: boolean
  /** -1 is the namespace. */
  index: number
}

const namespaceIndex = -1

export function shownColumns(
  columns: readonly TableColumn[],
  options: { namespace: boolean; wide: boolean; namespaceTitle: string }
): ShownColumn[] {
  const shown = columns
    .filter((c) => c.priority === 0 || options.wide)
    .map((c): ShownColumn => ({
      id: columnId(c.name),
      title: c.name,
      description: c.description,
      numeric: c.type === 'integer' || c.type === 'number',
      index: c.index,
    }))
  if (options.namespace)
    shown.splice(1, 0, {
      id: 'namespace',
      title: options.namespaceTitle,
      description: '',
      numeric: false,
      index: namespaceIndex,
    })
  return shown
}

function columnId(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

/** Ages are computed from the object's creation time, so that they advance without the server. */
export function cellText(row: TableRow, column: ShownColumn, now: number): string {
  if (column.index === namespaceIndex) return row.namespace ?? ''
  if (column.id === 'age' && row.created) return ageOf(row.created, now)
  const cell = row.cells[column.index]
  return cell === null || cell === undefined ? '' : String(cell)
}

type Order = number | string

const durationUnits: Record<string, number> = { y: 365 * 86_400, d: 86_400, h: 3600, m: 60, s: 1 }

/** The sort key of a cell: amounts, durations and fractions as numbers, everything else as text. */
function orderOf(row: TableRow, column: ShownColumn): Order {
  if (column.index === namespaceIndex) return row.namespace ?? ''
  if (column.id === 'age' && row.created) return -(Date.parse(row.created) || 0)
  const cell = row.cells[column.index]
  if (typeof cell === 'number') return cell
  if (typeof cell !== 'string') return ''
  if (/^(\d+[ydhms])+$/.test(cell)) {
    let seconds = 0
    for (const [, n, unit] of cell.matchAll(/(\d+)([ydhms])/g)) seconds += Number(n) * (durationUnits[unit ?? ''] ?? 0)
    return seconds
  }
  const fraction = /^(\d+)\/(\d+)$/.exec(cell)
  if (fraction) return Number(fraction[1]) + Number(fraction[2]) / 1e6
  const amount = parseQuantity(cell)
  return Number.isNaN(amount) ? cell : amount
}

/** Compares numbers in names as numbers: node-2 before node-10. A collator would take ten times as long. */
function nameOrder(name: string): string {
  return name.replace(/\d+/g, (digits) => digits.padStart(10, '0'))
}

/**
 * Sorts rows by a column's id, "-id" for descending; ties and unknown columns sort by
 * namespace and name. Sort keys are cached per row, because rows are immutable and each
 * change sorts thousands of them again.
 */
export class RowSorter {
  private column = ''
  private orders = new WeakMap<TableRow, Order>()
  private names = new WeakMap<TableRow, string>()

  /** Sorts rows in place and returns them. */
  sorted(rows: TableRow[], columns: readonly ShownColumn[], sort: string): TableRow[] {
    const descending = sort.startsWith('-')
    const id = sort.replace(/^-/, '')
    const column = columns.find((c) => c.id === id)
    if (id !== this.column) {
      this.column = id
      this.orders = new WeakMap()
    }
    const byName = !column || column.index === 0
    const sign = descending ? -1 : 1
    return rows.sort((a, b) => {
      const order = byName ? 0 : compare(this.order(a, column), this.order(b, column))
      return order
        ? sign * order
        : (byName ? sign : 1) * compare(this.nameOf(a, byName && !!column), this.nameOf(b, byName && !!column))
    })
  }

  private order(row: TableRow, column: ShownColumn): Order {
    let order = this.orders.get(row)
    if (order === undefined) {
      order = orderOf(row, column)
      if (typeof order === 'string') order = nameOrder(order)
      this.orders.set(row, order)
    }
    return order
  }

  /** By name first if the table is sorted by name, otherwise by namespace first. */
  private nameOf(row: TableRow, nameFirst: boolean): string {
    let both = this.names.get(row)
    if (both === undefined) {
      both = `${nameOrder(row.name)}\u0000${nameOrder(row.namespace ?? '')}`
      this.names.set(row, both)
    }
    if (nameFirst) return both
    const at = both.indexOf('\u0000')
    return row.namespace ? `${both.slice(at + 1)}\u0000${both.slice(0, at)}` : both
  }
}

function compare(a: Order, b: Order): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

/** Rows that contain every word in their key, cells or labels (key=value). */
export class RowFilter {
  private texts = new WeakMap<TableRow, string>()

  filter(rows: Iterable<TableRow>, text: string): TableRow[] {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean)
    const all = [...rows]
    return words.length ? all.filter((row) => words.every((word) => this.textOf(row).includes(word))) : all
  }

  private textOf(row: TableRow): string {
    let text = this.texts.get(row)
    if (text === undefined) {
      text = [row.key, ...row.cells, ...Object.entries(row.labels).map(([k, v]) => `${k}=${v}`)].join(' ').toLowerCase()
      this.texts.set(row, text)
    }
    return text
  }
}

/** Letters of Chinese and Japanese are as wide as two others. */
const lettersIn = (text: string) => text.length + (text.match(/[\u3000-\u9fff\uff00-\uffef]/g)?.length ?? 0)

/**
 * Column widths for a grid, based on the first rows and limited, so that a row stays together;
 * longer cells share the remaining width.
 */
export function columnWidths(
  columns: readonly ShownColumn[],
  rows: readonly TableRow[],
  now: number
): { widths: string[]; pixels: number[] } {
  const sample = rows.slice(0, 120)
  const pixels: number[] = []
  const widths = columns.map((column, i) => {
    let longest = 0
    for (const row of sample) longest = Math.max(longest, cellText(row, column, now).length)
    // At 12 px a letter takes about 6.7 px; headings are smaller, with room for the arrow.
    const wanted = Math.max(
      longest * 6.7 + (i === 0 || column.id === 'status' ? 20 : 4),
      lettersIn(column.title) * 6.2 + 16
    )
    const most = i === 0 ? 320 : 260
    const width = Math.round(Math.min(most, Math.max(i === 0 ? 120 : 40, wanted)))
    pixels.push(width)
    if (wanted > most) return `minmax(${width}px, 1fr)`
    return width > 90 ? `minmax(${width}px, ${Math.round(width * (i === 0 ? 1.8 : 1.3))}px)` : `${width}px`
  })
  return { widths, pixels }
}
