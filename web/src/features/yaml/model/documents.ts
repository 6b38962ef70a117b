// YAML text with several documents: parsing it into objects with positions, and writing it.

import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  stringify,
  type Document,
  type Node as YamlNode,
  type Pair,
  type YAMLMap,
} from 'yaml'
import { messageOf } from '@/api/message'
import type { KubeObject } from '@/api/types'
import { parsePath } from '@/kubernetes/fieldPaths'
import type { Finding } from './validation'

/** A problem at a position in the text. Lines and columns count from 1. */
export interface Problem {
  line: number
  column?: number
  /** The message of the YAML parser or the API server. */
  message: string
  /** An error by default. */
  severity?: 'error' | 'warning'
  /** The file that `line` refers to, if it is not the text in the editor. */
  file?: string
  /** Set for problems that we found ourselves: the message to translate. */
  says?:
    | { key: 'notObject' }
    | { key: 'nameMissing'; kind: string }
    | { key: 'missing'; field: string }
    | ({ key: Finding['kind'] } & Omit<Finding, 'kind' | 'path'>)
  /**
   * The first line of its document, for a problem of a document whose own line is not known, and
   * for one that the schema shows.
   */
  document?: number
}

/** One object of the text: a document, or an item of a List. */
export interface Entry {
  /** Its index in the text, from 0. */
  index: number
  /** The line of its first content. */
  line: number
  object: KubeObject
  apiVersion: string
  kind: string
  /** metadata.name, or metadata.generateName followed by *. */
  name: string
  namespace: string | undefined
  /** The file that it comes from, if it is not the text in the editor. */
  file?: string
  /** Set on the second and later copies of a document. */
  copy?: number
  /** The line of a field path such as spec.containers[0].image, or of its deepest existing part. */
  lineOf(path: string): number
}

export interface ParsedText {
  entries: Entry[]
  problems: Problem[]
}

/** A part of the text that holds one document (or nothing). */
interface Slice {
  text: string
  /** The line (from 1) on which it starts. */
  line: number
  /** The offset of its end. */
  end: number
}

/** Splits the text at its `---` lines, which always end a document. */
function* slices(text: string): Generator<Slice> {
  let start = 0
  let line = 1
  let slice = 1
  for (let at = 0; at <= text.length;) {
    const next = text.indexOf('\n', at)
    const end = next < 0 ? text.length : next
    if (
      at > start &&
      text.startsWith('---', at) &&
      (end === at + 3 || /\s/.test(text[at + 3] ?? '')) &&
      !isDirectives(text.slice(start, at))
    ) {
      yield { text: text.slice(start, at), line: slice, end: at }
      start = at
      slice = line
    }
    if (next < 0) break
    at = next + 1
    line++
  }
  yield { text: text.slice(start), line: slice, end: text.length }
}

/** %YAML and %TAG come before the --- of their document. */
function isDirectives(text: string): boolean {
  return text.length < 2000 && /^%/m.test(text)
}

/** Parses the text. With problems, entries holds everything that could be parsed. */
export function parseText(text: string): ParsedText {
  return new DocumentReader().parse(text)
}

/** Parses a text repeatedly while it is edited; unchanged documents are not parsed again. */
export class DocumentReader {
  private known = new Map<string, ParsedText>()

  parse(text: string): ParsedText {
    const known = new Map<string, ParsedText>()
    const out: ParsedText = { entries: [], problems: [] }
    for (const slice of slices(text)) {
      const part = known.get(slice.text) ?? this.known.get(slice.text) ?? parseSlice(slice.text)
      known.set(slice.text, part)
      addPart(out, part, slice.line - 1)
    }
    this.known = known
    return out
  }
}

/**
 * Parses a large text in parts: yields the number of parsed characters, so that the
 * caller can show progress, pause or cancel. The result is complete when it returns.
 */
export function* parseInSteps(text: string): Generator<number, ParsedText> {
  const out: ParsedText = { entries: [], problems: [] }
  const json = parseJson(text)
  if (json) return json
  for (const slice of slices(text)) {
    addPart(out, parseSlice(slice.text), slice.line - 1)
    yield slice.end
  }
  return out
}

/** JSON is YAML, but JSON.parse reads large files of JSON faster. Its lines are unknown. */
function parseJson(text: string): ParsedText | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const out: ParsedText = { entries: [], problems: [] }
  for (const item of isList(value) ? value.items : [value]) addEntry(out.entries, out.problems, () => 1, item)
  return out
}

function addPart(out: ParsedText, part: ParsedText, offset: number): void {
  for (const entry of part.entries) {
    out.entries.push({
      ...entry,
      index: out.entries.length,
      line: entry.line + offset,
      lineOf: (path) => entry.lineOf(path) + offset,
    })
  }
  for (const problem of part.problems) out.problems.push({ ...problem, line: problem.line + offset })
}

function parseSlice(text: string): ParsedText {
  const counter = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: true })
  const entries: Entry[] = []
  const problems: Problem[] = []
  if (!Array.isArray(documents)) return { entries, problems }
  for (const document of documents) {
    // After a syntax error the parser misreads the rest, so later errors would be false.
    const [error] = document.errors
    if (error) {
      const { line, col } = counter.linePos(error.pos[0])
      problems.push({ line: Math.max(1, line), column: Math.max(1, col), message: error.message })
    }
    if (document.errors.length || document.contents === null || isEmpty(document.contents)) continue
    let value: unknown
    try {
      value = document.toJS({ maxAliasCount: 100 })
    } catch (error) {
      problems.push({ line: lineAt(counter, document.contents), message: messageOf(error) })
      continue
    }
    const lineOf = (prefix: (string | number)[]) => (path: string) =>
      lineOfPath(document, counter, [...prefix, ...parsePath(path)])
    if (isList(value)) value.items.forEach((item, i) => addEntry(entries, problems, lineOf(['items', i]), item))
    else addEntry(entries, problems, lineOf([]), value)
  }
  return { entries, problems }
}

function isEmpty(contents: YamlNode): boolean {
  return isScalar(contents) && (contents.value === null || contents.value === '')
}

function isList(value: unknown): value is { items: unknown[] } {
  return isRecord(value) && typeof value.kind === 'string' && value.kind.endsWith('List') && Array.isArray(value.items)
}

function addEntry(entries: Entry[], problems: Problem[], lineOf: (path: string) => number, value: unknown): void {
  const line = lineOf('')
  if (!isRecord(value)) {
    problems.push({ line, message: 'not an object', says: { key: 'notObject' } })
    return
  }
  for (const field of ['apiVersion', 'kind'] as const) {
    if (typeof value[field] !== 'string' || !value[field]) {
      problems.push({ line: lineOf(field), message: `${field} is missing`, says: { key: 'missing', field } })
      return
    }
  }
  if (!isRecord(value.metadata) || !(value.metadata.name || value.metadata.generateName)) {
    problems.push({
      line: lineOf('metadata'),
      message: 'metadata.name is missing',
      says: { key: 'nameMissing', kind: String(value.kind) },
    })
    return
  }
  const metadata = value.metadata
  entries.push({
    index: entries.length,
    line,
    object: value as unknown as KubeObject,
    apiVersion: String(value.apiVersion),
    kind: String(value.kind),
    name: metadata.name ? String(metadata.name) : `${String(metadata.generateName)}*`,
    namespace: typeof metadata.namespace === 'string' && metadata.namespace ? metadata.namespace : undefined,
    lineOf,
  })
}

function lineOfPath(document: Document.Parsed, counter: LineCounter, path: (string | number)[]): number {
  let node: unknown = document.contents
  let line = lineAt(counter, document.contents)
  for (let i = 0; i < path.length; i++) {
    const part = path[i]
    if (isSeq(node) && typeof part === 'number') {
      const item: unknown = node.items[part]
      if (item === undefined) break
      node = item
      line = lineAt(counter, item) || line
      continue
    }
    if (!isMap(node)) break
    // A key may contain dots: labels.example.com/x. Take the longest part that is a key.
    let found = false
    for (let end = path.length; end > i && !found; end--) {
      const key = path.slice(i, end).join('.')
      const pair: Pair | undefined = (node as YAMLMap).items.find((p) => isScalar(p.key) && String(p.key.value) === key)
      if (!pair) continue
      line = lineAt(counter, pair.key) || line
      node = pair.value
      i = end - 1
      found = true
    }
    if (!found) break
  }
  return line
}

function lineAt(counter: LineCounter, node: unknown): number {
  const range = (node as { range?: [number, number, number] | null } | null)?.range
  return range ? counter.linePos(range[0]).line : 1
}

/** An object as YAML, in the usual order and without server-only fields. */
export function toYaml(object: KubeObject): string {
  const { apiVersion, kind, metadata, ...rest } = object
  const shown = { ...metadata } as Record<string, unknown>
  delete shown.managedFields
  return stringify({ apiVersion, kind, metadata: shown, ...rest }, { lineWidth: 0, singleQuote: false })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
