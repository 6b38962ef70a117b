// A YAML text as a form: its fields with their positions, and edits that change one field
// and leave everything else, including comments and the order, as it is.

import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  stringify,
  type Document,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { keyPath } from './validation'

export type Path = readonly (string | number)[]

export interface FormField {
  path: Path
  /** The path for display: spec.containers[0].image. */
  label: string
  /**
   * scalar: one value. map, list: it contains other fields. other: a value that only the text can
   * edit, such as several lines.
   */
  kind: 'scalar' | 'map' | 'list' | 'other'
  /** Of a scalar; null for the others. */
  value: string | number | boolean | null
  /** The position of a scalar's value in the text. */
  from: number
  to: number
  /** The number of entries of a map or a list. */
  size: number
}

export interface FormDocument {
  /** Its index among the documents of the text. */
  index: number
  apiVersion: string
  kind: string
  name: string
  /** In the order of the text; a map or a list comes before its entries. */
  fields: FormField[]
  /** The whole object, for its validation. */
  object: unknown
}

/** The documents of a text; undefined when it cannot be parsed. */
export function formOf(text: string): FormDocument[] | undefined {
  return parsed(text)?.flatMap((document, index): FormDocument[] => {
    if (!isMap(document.contents)) return []
    const head = (path: string[]) => {
      const value: unknown = document.getIn(path)
      return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
    }
    const fields: FormField[] = []
    collect(document.contents, [], fields, text)
    return [
      {
        index,
        apiVersion: head(['apiVersion']),
        kind: head(['kind']),
        name: head(['metadata', 'name']),
        fields,
        object: document.toJS({ maxAliasCount: 100 }),
      },
    ]
  })
}

function parsed(text: string): Document.Parsed[] | undefined {
  const documents = parseAllDocuments(text, { prettyErrors: false })
  return !Array.isArray(documents) || documents.some((d) => d.errors.length) ? undefined : documents
}

const keyOf = (key: unknown) => String(isScalar(key) ? key.value : key)

function collect(node: unknown, path: Path, fields: FormField[], text: string): void {
  if (path.length) fields.push(fieldOf(node, path, text))
  if (isMap(node)) for (const { key, value } of node.items) collect(value, [...path, keyOf(key)], fields, text)
  else if (isSeq(node)) node.items.forEach((item, i) => collect(item, [...path, i], fields, text))
}

function fieldOf(node: unknown, path: Path, text: string): FormField {
  const field: FormField = { path, label: labelOf(path), kind: 'other', value: null, from: 0, to: 0, size: 0 }
  if (isMap(node) || isSeq(node)) return { ...field, kind: isMap(node) ? 'map' : 'list', size: node.items.length }
  if (!isScalar(node) || !isPlain(node, text)) return field
  const [from, to] = node.range ?? [0, 0]
  return { ...field, kind: 'scalar', value: node.value as FormField['value'], from, to }
}

/** An anchor or a tag belongs to the value, and a block scalar is not a single value. */
function isPlain({ value, range, anchor, tag }: Scalar, text: string): boolean {
  const simple = value === null || ['string', 'number', 'boolean'].includes(typeof value)
  return !!range && simple && !anchor && !tag && !text.slice(range[0], range[1]).includes('\n')
}

function labelOf(path: Path): string {
  return path.reduce<string>(
    (label, step) => (typeof step === 'number' ? `${label}[${step}]` : keyPath(label, step)),
    ''
  )
}

/**
 * Returns the text with a new value for a field of this text. The input gets the type that
 * the field had or that its schema allows: a string stays a string even if it looks like a
 * number.
 */
export function withValue(
  text: string,
  field: FormField,
  typed: string,
  type: 'string' | 'number' | 'boolean'
): string {
  const value =
    type === 'number' && /^-?\d+(\.\d+)?$/.test(typed) ? Number(typed) : type === 'boolean' ? typed === 'true' : typed
  const before = text.slice(0, field.from)
  // A missing value goes right after its colon.
  const space = field.from === field.to && /[:-]$/.test(before) ? ' ' : ''
  return before + space + stringify(value, { lineWidth: 0 }).trimEnd() + text.slice(field.to)
}

// Adding and removing.

/** A part of the text to replace. */
interface Edit {
  from: number
  to: number
  text: string
}

const apply = (text: string, { from, to, text: added }: Edit) => text.slice(0, from) + added + text.slice(to)

/**
 * Adds a field to the map at `path`, or an item to the list there, after what it has. `value`
 * is a plain object, list or scalar. A field that is there already, a missing path and a text
 * that cannot be parsed leave the text unchanged.
 */
export function withAdded(text: string, document: number, path: Path, key: string | undefined, value: unknown): string {
  const found = parsed(text)?.[document]
  if (!found) return text
  const node: unknown = path.length ? found.getIn(path, true) : found.contents
  if (key !== undefined && isMap(node) && node.has(key)) return text
  const content = key === undefined ? [value] : { [key]: value }
  const edit =
    isCollection(node) && node.items.length
      ? intoFilled(text, node as YAMLMap | YAMLSeq, content)
      : intoEmpty(text, found, path, node, content)
  return verified(
    text,
    edit && apply(text, edit),
    document,
    [...path, key ?? (isSeq(node) ? node.items.length : 0)],
    value
  )
}

/** Block text of a map or a list, with every line indented. */
function blockOf(content: unknown, indent: number): string {
  const lines = stringify(content, { lineWidth: 0, indentSeq: false }).trimEnd()
  return lines.replace(/^(?=.)/gm, ' '.repeat(indent))
}

/** Flow text on one line, without the outer brackets. */
function flowOf(content: unknown): string {
  return stringify(content, { collectionStyle: 'flow', lineWidth: 0 }).trim().slice(1, -1).trim()
}

function intoFilled(text: string, node: YAMLMap | YAMLSeq, content: unknown): Edit | undefined {
  if (node.flow) {
    const end = lastEnd(node)
    return end === undefined ? undefined : { from: end, to: end, text: `, ${flowOf(content)}` }
  }
  const first = firstStart(node)
  const end = lastEnd(node)
  if (first === undefined || end === undefined) return undefined
  // The dash of a list's item stands before the item itself.
  const column = isSeq(node)
    ? text.lastIndexOf('-', first - 1) - lineStart(text, first)
    : first - lineStart(text, first)
  return after(text, end, blockOf(content, column))
}

/** Puts lines below the line on which `end` is. */
function after(text: string, end: number, lines: string): Edit {
  if (text[end - 1] === '\n') return { from: end, to: end, text: `${lines}\n` }
  const at = lineEnd(text, end)
  return { from: at, to: at, text: `\n${lines}` }
}

/** Into `key:`, `key: {}` or `- {}`. */
function intoEmpty(
  text: string,
  found: Document.Parsed,
  path: Path,
  node: unknown,
  content: unknown
): Edit | undefined {
  const parent: unknown = path.length > 1 ? found.getIn(path.slice(0, -1), true) : found.contents
  const range = (node as { range?: [number, number, number] } | null)?.range
  const empty = node === null || (isScalar(node) && node.value === null) || (isCollection(node) && !node.items.length)
  if (!isCollection(parent) || !range || !empty) return undefined
  if (parent.flow)
    return { from: range[0], to: range[1], text: isArray(content) ? `[${flowOf(content)}]` : `{${flowOf(content)}}` }
  if (isSeq(parent)) {
    const column = range[0] - lineStart(text, range[0])
    return { from: range[0], to: range[1], text: blockOf(content, column).trimStart() }
  }
  const pair = pairOf(parent as YAMLMap, path.at(-1))
  const start = (pair?.key as Scalar | undefined)?.range?.[0]
  if (start === undefined) return undefined
  // Below the key, after its comment; the brackets go.
  const eol = lineEnd(text, range[1])
  const kept = text.slice(0, range[0]).trimEnd() + text.slice(range[1], eol)
  const indent = start - lineStart(text, start) + (isArray(content) ? 0 : 2)
  return { from: 0, to: eol, text: `${kept}\n${blockOf(content, indent)}` }
}

const isArray = (value: unknown): value is unknown[] => Array.isArray(value)

/** Removes the field or the item at `path`. A map or a list that becomes empty stays, as {} or []. */
export function withoutField(text: string, document: number, path: Path): string {
  const found = parsed(text)?.[document]
  const last = path.at(-1)
  if (!found || last === undefined) return text
  const parentPath = path.slice(0, -1)
  const parent: unknown = parentPath.length ? found.getIn(parentPath, true) : found.contents
  if (!isCollection(parent)) return text
  const items = (parent as YAMLMap | YAMLSeq).items
  const at = isMap(parent) ? parent.items.findIndex(({ key }) => keyOf(key) === last) : Number(last)
  if (at < 0 || at >= items.length) return text
  const edit =
    items.length === 1
      ? emptied(text, found, parentPath, parent as YAMLMap | YAMLSeq)
      : parent.flow
        ? cutFlow(parent as YAMLMap | YAMLSeq, at)
        : cutBlock(text, parent as YAMLMap | YAMLSeq, at)
  return verified(text, edit && apply(text, edit), document, path, undefined)
}

function cutFlow(parent: YAMLMap | YAMLSeq, at: number): Edit | undefined {
  const [from, to, next, previous] = [
    itemStart(parent, at),
    itemEnd(parent, at),
    itemStart(parent, at + 1),
    itemEnd(parent, at - 1),
  ]
  if (from === undefined || to === undefined) return undefined
  if (next !== undefined) return { from, to: next, text: '' }
  return { from: previous ?? from, to, text: '' }
}

function cutBlock(text: string, parent: YAMLMap | YAMLSeq, at: number): Edit | undefined {
  const [start, end] = [itemStart(parent, at), itemEnd(parent, at)]
  if (start === undefined || end === undefined) return undefined
  const from = isSeq(parent) ? text.lastIndexOf('-', start - 1) : start
  const before = text.slice(lineStart(text, from), from)
  // After a dash, the next key takes the place.
  const next = itemStart(parent, at + 1)
  if (before.trim() && next !== undefined && !isSeq(parent)) return { from, to: next, text: '' }
  if (before.trim()) return undefined
  const eol = text[end - 1] === '\n' ? end : lineEnd(text, end) + 1
  return { from: lineStart(text, from), to: Math.min(eol, text.length), text: '' }
}

function emptied(text: string, found: Document.Parsed, path: Path, node: YAMLMap | YAMLSeq): Edit | undefined {
  const brackets = isMap(node) ? '{}' : '[]'
  const end = lastEnd(node)
  const start = node.range?.[0]
  if (!path.length || end === undefined || start === undefined) return undefined
  if (node.flow) return { from: start, to: node.range?.[1] ?? end, text: brackets }
  const parent: unknown = path.length > 1 ? found.getIn(path.slice(0, -1), true) : found.contents
  const stop = text[end - 1] === '\n' ? end - 1 : lineEnd(text, end)
  if (isSeq(parent)) return { from: start, to: stop, text: brackets }
  const key = pairOf(parent as YAMLMap, path.at(-1))?.key as Scalar | undefined
  const colon = text.indexOf(':', key?.range?.[1] ?? start)
  const comment = text.slice(colon + 1, lineEnd(text, colon)).trimEnd()
  return { from: colon + 1, to: stop, text: ` ${brackets}${comment}` }
}

/**
 * The result of an edit if it has the value, or no longer has the field, and everything else
 * is the same. Otherwise, as for YAML that no manifest has, the library rewrites the document.
 */
function verified(text: string, edited: string | undefined, document: number, path: Path, value: unknown): string {
  const wanted = parsed(text)?.[document]
  if (!wanted) return text
  if (value === undefined) wanted.deleteIn(path)
  else setIn(wanted, path, value)
  if (edited !== undefined && JSON.stringify(parsed(edited)?.[document]?.toJS()) === JSON.stringify(wanted.toJS()))
    return edited
  const [from, , to] = parsed(text)?.[document]?.range ?? [0, 0, text.length]
  return text.slice(0, from) + wanted.toString({ lineWidth: 0, indentSeq: false }) + text.slice(to)
}

/** Sets a value, also in a field that has none yet. */
function setIn(document: Document.Parsed, path: Path, value: unknown): void {
  const parent = path.slice(0, -1)
  if (parent.length && document.getIn(parent) === null)
    document.setIn(parent, document.createNode(typeof path.at(-1) === 'number' ? [] : {}))
  document.setIn(path, document.createNode(value))
}

// Positions.

const lineStart = (text: string, at: number) => text.lastIndexOf('\n', at - 1) + 1
const lineEnd = (text: string, at: number) => {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

const pairOf = (map: YAMLMap, key: unknown): Pair | undefined => map.items.find((pair) => keyOf(pair.key) === key)

function itemStart(parent: YAMLMap | YAMLSeq, at: number): number | undefined {
  const item = at < 0 ? undefined : parent.items[at]
  if (item === undefined) return undefined
  return rangeOf(isMap(parent) ? (item as Pair).key : item)?.[0]
}

function itemEnd(parent: YAMLMap | YAMLSeq, at: number): number | undefined {
  const item = at < 0 ? undefined : parent.items[at]
  if (item === undefined) return undefined
  return isMap(parent) ? (endOf((item as Pair).value) ?? endOf((item as Pair).key)) : endOf(item)
}

const firstStart = (node: YAMLMap | YAMLSeq) => itemStart(node, 0)
const lastEnd = (node: YAMLMap | YAMLSeq) => itemEnd(node, node.items.length - 1)

/**
 * The end of a node's content, without the comments and the blank lines that a block collection's
 * range includes.
 */
function endOf(node: unknown): number | undefined {
  if ((isMap(node) || isSeq(node)) && !node.flow && node.items.length) return lastEnd(node as YAMLMap | YAMLSeq)
  return rangeOf(node)?.[1]
}

function rangeOf(node: unknown): [number, number, number] | undefined {
  return isScalar(node) || isCollection(node) || isAlias(node) ? (node.range ?? undefined) : undefined
}
