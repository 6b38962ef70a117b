// The author of each field of an object, according to metadata.managedFields, and of each
// line of its YAML.

import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { KubeObject } from '@/api/types'

type Path = readonly (string | number)[]
type Fields = Record<string, unknown>

interface Account {
  manager?: string
  fieldsV1?: Fields
}

/** The managers of the field at path, each once; empty when it has none: admission or the server set it. */
export function managersOf(object: KubeObject, path: Path): string[] {
  const accounts = (object.metadata as { managedFields?: Account[] }).managedFields ?? []
  const names = accounts
    .filter((a) => a.manager && a.fieldsV1 && owns(a.fieldsV1, object, path))
    .map((a) => a.manager ?? '')
  return [...new Set(names)]
}

/**
 * managedFields identifies list items by keys, values or positions, or a list as a whole; a whole
 * list has no parts.
 */
function owns(fields: Fields, object: unknown, path: Path): boolean {
  let at = fields
  let value = object
  for (const step of path) {
    const child = at[Array.isArray(value) ? (itemKey(at, value[Number(step)], Number(step)) ?? '') : `f:${step}`]
    if (!isRecord(child)) return false
    if (!Object.keys(child).length) return true
    at = child
    value = Array.isArray(value) ? value[Number(step)] : isRecord(value) ? value[step] : undefined
  }
  return true
}

function itemKey(fields: Fields, item: unknown, index: number): string | undefined {
  return Object.keys(fields).find((key) => {
    if (key === `i:${index}`) return true
    if (key.startsWith('v:')) return key.slice(2) === JSON.stringify(item)
    if (!key.startsWith('k:') || !isRecord(item)) return false
    const wanted = JSON.parse(key.slice(2)) as Record<string, unknown>
    return Object.entries(wanted).every(([name, value]) => item[name] === value)
  })
}

/**
 * The author of a field. `default`: the server set a missing field and recorded it under
 * the writer's name. `server` and `admission` have no manager.
 */
export type Author =
  { kind: 'you' | 'default' | 'admission' | 'server' } | { kind: 'others'; names: readonly string[]; you: boolean }

export interface Accounting {
  /** The name of our own field manager. */
  ours: string
  /** The object as written; other fields under our name are defaults. */
  written?: KubeObject
}

function authorOf(object: KubeObject, path: Path, { ours, written }: Accounting): Author {
  const managers = managersOf(object, path)
  const names = managers.filter((name) => name !== ours)
  const you = names.length < managers.length
  if (names.length) return { kind: 'others', names, you }
  const wrote = written && holds(written, path)
  if (you) return { kind: written && !wrote ? 'default' : 'you' }
  // managedFields omits name, kind and the like; their author is the writer of the object.
  if (wrote) return { kind: 'you' }
  return { kind: path[0] === 'spec' ? 'admission' : 'server' }
}

function holds(object: unknown, path: Path): boolean {
  let value = object
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !(step in value)) return false
    value = (value as Record<string | number, unknown>)[step]
  }
  return true
}

/** The field path of each line of a YAML document; a line that only opens a map or a list has none. */
export function fieldsByLine(text: string): Map<number, Path> {
  const counter = new LineCounter()
  const lines = new Map<number, Path>()
  const note = (node: unknown, path: Path, first?: number) => {
    const range = (node as { range?: [number, number, number] | null } | null)?.range
    const from = first ?? (range ? counter.linePos(range[0]).line : 0)
    // A multi-line value ends where the next field starts.
    const to = range ? counter.linePos(Math.max(range[0], range[1] - 1)).line : from
    for (let line = from; line && line <= to; line++) lines.set(line, path)
  }
  const walk = (node: unknown, path: Path, first?: number) => {
    if (isMap(node) && node.items.length) {
      for (const { key, value } of node.items) {
        const at = isScalar(key) && key.range ? counter.linePos(key.range[0]).line : undefined
        walk(value, [...path, String(isScalar(key) ? key.value : key)], at)
      }
    } else if (isSeq(node) && node.items.length) node.items.forEach((item, i) => walk(item, [...path, i]))
    else note(node, path, first)
  }
  walk(parseDocument(text, { lineCounter: counter, prettyErrors: false }).contents, [])
  return lines
}

/** The authors of each line of an object's YAML. */
export function authorsByLine(object: KubeObject, text: string, accounting: Accounting): Map<number, Author> {
  return new Map([...fieldsByLine(text)].map(([line, path]) => [line, authorOf(object, path, accounting)]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
