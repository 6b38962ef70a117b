// YAML text with several documents: into objects with positions, and back.

import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, stringify, type Document, type Node as YamlNode, type Pair, type YAMLMap } from 'yaml'
import type { KubeObject } from '@/api/types'
import { parsePath } from './paths'

/** Something to say about a place in the text. Lines and columns count from 1. */
export interface Problem {
  line: number
  column?: number
  /** The words of whoever found it: the YAML parser or the API server. */
  message: string
  /** Set when we found it ourselves: which of our own sentences says it. */
  says?: { key: 'notObject' | 'nameMissing' } | { key: 'missing'; field: string }
}

/** One object of the text: a document, or an item of a List. */
export interface Entry {
  /** From 0, in the order of the text. */
  index: number
  /** Line of its first content. */
  line: number
  object: KubeObject
  apiVersion: string
  kind: string
  /** metadata.name, or metadata.generateName followed by *. */
  name: string
  namespace: string | undefined
  /** The line of a field path such as spec.containers[0].image, or of the deepest part of it that is there. */
  lineOf(path: string): number
}

export interface ParsedText {
  entries: Entry[]
  problems: Problem[]
}

/** Parses the text. With problems, entries holds what could still be read. */
export function parseText(text: string): ParsedText {
  const counter = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: true })
  const entries: Entry[] = []
  const problems: Problem[] = []
  if (!Array.isArray(documents)) return { entries, problems }
  for (const document of documents) {
    for (const error of document.errors) {
      const { line, col } = counter.linePos(error.pos[0])
      problems.push({ line: Math.max(1, line), column: Math.max(1, col), message: error.message })
    }
    if (document.errors.length || document.contents === null || isEmpty(document.contents)) continue
    const start = lineAt(counter, document.contents)
    let value: unknown
    try {
      value = document.toJS({ maxAliasCount: 100 })
    } catch (error) {
      problems.push({ line: start, message: error instanceof Error ? error.message : String(error) })
      continue
    }
    if (isList(value)) {
      value.items.forEach((item, i) => addEntry(entries, problems, document, counter, item, ['items', i]))
    } else {
      addEntry(entries, problems, document, counter, value, [])
    }
  }
  return { entries, problems }
}

function isEmpty(contents: YamlNode): boolean {
  return isScalar(contents) && (contents.value === null || contents.value === '')
}

function isList(value: unknown): value is { items: unknown[] } {
  return isRecord(value) && typeof value.kind === 'string' && value.kind.endsWith('List') && Array.isArray(value.items)
}

function addEntry(entries: Entry[], problems: Problem[], document: Document.Parsed, counter: LineCounter, value: unknown, prefix: (string | number)[]): void {
  const lineOf = (path: string) => lineOfPath(document, counter, [...prefix, ...parsePath(path)])
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
    problems.push({ line: lineOf('metadata'), message: 'metadata.name is missing', says: { key: 'nameMissing' } })
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
    // A key may itself hold dots: labels.example.com/x. Take the longest run that is a key.
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

/** An object as YAML, in the order that people expect, without what only servers read. */
export function toYaml(object: KubeObject): string {
  const { apiVersion, kind, metadata, ...rest } = object
  const shown = { ...metadata } as Record<string, unknown>
  delete shown.managedFields
  return stringify({ apiVersion, kind, metadata: shown, ...rest }, { lineWidth: 0, singleQuote: false })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
