// The position in YAML text as a path of keys. It reads lines and their indentation,
// because text does not parse while the user types it.

import { itemStep, type Head, type Step } from './schema'

/** The lines of a text, numbered from 1, which an editor can provide without copying. */
export interface Lines {
  count: number
  line(n: number): string
}

export interface Spot {
  head: Head
  /**
   * From the document's root to the mapping at the position; includes the key if the position is
   * its value.
   */
  steps: Step[]
  /** The user is writing a key (or a scalar item), or the value after `key:`. */
  at: 'key' | 'value'
  /** The text of the key or value, and the columns (from 0) of its start and end. */
  word: string
  from: number
  to: number
  /** Keys of the mapping, with their scalars. */
  beside(): ReadonlyMap<string, string>
  /** The column of the keys of this mapping. */
  column: number
}

interface Parsed {
  indent: number
  /** Columns of the dashes. */
  dashes: number[]
  /** The column of the content; of the key, if there is one. */
  column: number
  key: string | undefined
  /** The column of the value, and its text without comments. */
  valueAt: number
  value: string
  /** Only spaces or a comment. */
  blank: boolean
}

const keyPattern =
  /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'{}[\],&*!|>%@`-][^#:]*?(?::(?!\s|$)[^#:]*?)*|-[^\s#:][^#:]*?)\s*:(?=\s|$)/
const maxLines = 20_000

function read(text: string): Parsed {
  const indent = text.length - text.trimStart().length
  let column = indent
  const dashes: number[] = []
  while (text[column] === '-' && (column + 1 >= text.length || text[column + 1] === ' ')) {
    dashes.push(column)
    column++
    while (text[column] === ' ') column++
  }
  const rest = text.slice(column)
  const blank = dashes.length === 0 && (rest === '' || rest.startsWith('#'))
  const match = keyPattern.exec(rest)
  if (!match) return { indent, dashes, column, key: undefined, valueAt: column, value: rest, blank }
  let valueAt = column + match[0].length
  while (text[valueAt] === ' ') valueAt++
  return {
    indent,
    dashes,
    column,
    key: unquote(match[1] ?? ''),
    valueAt,
    value: text
      .slice(valueAt)
      .replace(/(^|\s)#.*$/, '')
      .trim(),
    blank: false,
  }
}

function unquote(key: string): string {
  if (key.length > 1 && (key.startsWith('"') || key.startsWith("'"))) return key.slice(1, -1)
  return key.trim()
}

const isBoundary = (text: string) => /^(---|\.\.\.)(\s|$)/.test(text)
/** The value is a mapping or list below, not a scalar on the line. */
const opens = (value: string) => value === '' || /^[&!]\S*$/.test(value)
const opensBlock = (value: string) => /^[|>][+-]?\d?[+-]?$/.test(value)

/**
 * Finds the position of a column of a line. With `whole`, the word is the complete key or
 * value under the column (for hovering); without, the part before it (for completion).
 * undefined: in a comment, a block scalar, flow style, or where the indentation is invalid.
 */
export function spotAt(lines: Lines, number: number, column: number, whole = false): Spot | undefined {
  const full = lines.line(number)
  if (isBoundary(full)) return undefined
  const text = whole ? full : full.slice(0, column)
  const current = read(text)
  if (/^\s*#|\s#/.test(text.slice(0, column)) || /\t/.test(full.slice(0, current.indent))) return undefined
  const first = firstLine(lines, number)
  const at: 'key' | 'value' =
    current.key !== undefined && column >= current.valueAt && (whole || column > current.column + current.key.length)
      ? 'value'
      : 'key'
  // Directly after `key:`, without a space, no value can start.
  if (at === 'key' && !whole && current.key !== undefined) return undefined
  const value = at === 'value' ? text.slice(current.valueAt) : ''
  if (at === 'value' && /^[[{|>&*!]/.test(value)) return undefined
  if (current.key === undefined && /^[[{|>&*!]/.test(current.value)) return undefined

  const empty = current.blank
  const mapping = empty ? column : current.column
  const path = climb(lines, first, number, mapping, empty ? [] : current.dashes)
  if (!path) return undefined
  const word =
    at === 'value'
      ? whole
        ? current.value
        : value
      : empty
        ? ''
        : (current.key ?? text.slice(current.column).trimEnd())
  const from = at === 'value' ? current.valueAt : mapping
  const beside = () => fields(lines, first, number, mapping, current.dashes.length > 0 && !empty)
  const steps = [...path]
  if (at === 'value' && current.key !== undefined) steps.push({ key: current.key, beside })
  const top = once(() => headOf(lines, first))
  return {
    get head() {
      return top()
    },
    steps,
    at,
    word,
    from,
    to: whole ? from + word.length : column,
    beside: once(beside),
    column: mapping,
  }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function firstLine(lines: Lines, number: number): number {
  let n = number
  while (n > 1 && number - n < maxLines && !isBoundary(lines.line(n - 1))) n--
  return n
}

function headOf(lines: Lines, first: number): Head {
  const top = fields(lines, first, first, 0, false, true)
  return { apiVersion: top.get('apiVersion') ?? '', kind: top.get('kind') ?? '' }
}

/** The steps from the document's root to the mapping whose keys are at `column`. */
function climb(
  lines: Lines,
  first: number,
  number: number,
  column: number,
  dashes: readonly number[]
): Step[] | undefined {
  const steps: Step[] = []
  // Looks for the owner of a mapping at `column`, or of a list whose dashes are there.
  let looking = 'mapping' as 'mapping' | 'list'
  let wanted = column
  const enter = (marks: readonly number[]) => {
    for (let i = marks.length - 1; i >= 0; i--) {
      steps.unshift({ key: itemStep, beside: () => new Map() })
      looking = 'list'
      wanted = marks[i] ?? 0
    }
  }
  enter(dashes)
  for (let n = number - 1; n >= first; n--) {
    if (looking === 'mapping' && wanted === 0) break
    const text = lines.line(n)
    if (isBoundary(text)) break
    const line = read(text)
    if (line.blank) continue
    if (looking === 'list') {
      // A list may be at the same column as its key.
      if (line.key === undefined || line.column > wanted) {
        const outer = line.dashes.filter((d) => d < wanted)
        if (line.key === undefined && outer.length) enter(outer)
        else if (line.key === undefined && !line.dashes.length && line.indent < wanted && !isText(lines, first, n))
          return undefined
        continue
      }
    } else {
      if (line.column === wanted && line.key !== undefined) {
        enter(line.dashes)
        continue
      }
      if (line.column >= wanted || line.key === undefined) {
        const outer = line.dashes.filter((d) => d < wanted)
        if (outer.length && (line.key === undefined || line.column > wanted)) {
          // "- " alone, or an item whose first key is deeper than this one.
          if (line.key !== undefined) return undefined
          enter(outer)
        }
        continue
      }
    }
    if (opensBlock(line.value)) return undefined
    if (!opens(line.value)) return undefined
    const at = n
    const keys = line.column
    const own = line
    steps.unshift({ key: line.key ?? '', beside: once(() => fields(lines, first, at, keys, own.dashes.length > 0)) })
    looking = 'mapping'
    wanted = keys
    enter(line.dashes)
  }
  if (looking === 'list' && wanted > 0) return undefined
  if (looking === 'mapping' && wanted > 0) return undefined
  return steps
}

/** A line that is neither a key nor an item belongs to a multi-line scalar. */
function isText(lines: Lines, first: number, n: number): boolean {
  for (let above = n - 1; above >= first; above--) {
    const line = read(lines.line(above))
    if (!line.blank && line.key !== undefined) return true
  }
  return false
}

/** Keys and scalars of the mapping at `column` around a line. */
function fields(
  lines: Lines,
  first: number,
  number: number,
  column: number,
  startsItem: boolean,
  fromHere = false
): Map<string, string> {
  const found = new Map<string, string>()
  const add = (line: Parsed) => {
    if (line.key !== undefined && line.column === column && !found.has(line.key))
      found.set(line.key, unquote(line.value))
  }
  if (!startsItem && !fromHere) {
    for (let n = number - 1; n >= first; n--) {
      const line = read(lines.line(n))
      if (line.blank) continue
      if (line.column < column || line.dashes.some((d) => d < column && line.column > column)) break
      add(line)
      // The item's own dash: another mapping starts before it.
      if (line.dashes.length && line.column === column) break
    }
  }
  for (let n = fromHere ? number : number + 1; n <= lines.count; n++) {
    const text = lines.line(n)
    if (isBoundary(text)) break
    const line = read(text)
    if (line.blank) continue
    if (line.column < column || line.dashes.some((d) => d < column)) break
    add(line)
  }
  if (startsItem || !fromHere) add(read(lines.line(number)))
  return found
}
