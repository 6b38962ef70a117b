// Proposals for a position in YAML text, and documentation of fields: combines a schema
// with a position.

import {
  itemStep,
  settle,
  shapeOf,
  typeOf,
  valuesOf,
  walk,
  type Schema,
  type SchemaRoot,
  type SchemaSource,
  type Shape,
} from './schema'
import { spotAt, type Lines, type Spot } from './yamlSpot'

export interface Proposal {
  /** The key or value. */
  label: string
  /** Its type in short; '' for a value. */
  type: string
  required: boolean
  /** Its description in the schema; '' without one. */
  documentation: string
  /** For a key: how its value is written. undefined: it is a value. */
  shape: Shape | undefined
}

export interface Proposals {
  /** Columns (from 0) of the text that a proposal replaces. */
  from: number
  to: number
  word: string
  /** The column of the keys of this mapping. */
  column: number
  items: Proposal[]
}

/** Documentation of a field. */
export interface FieldDocumentation {
  name: string
  type: string
  required: boolean
  documentation: string
  /** Its possible values, if they are few. */
  values: string[]
  from: number
  to: number
}

const value = (label: string): Proposal => ({ label, type: '', required: false, documentation: '', shape: undefined })

/** Proposals at a column (from 0) of a line (from 1); undefined when nothing is known there. */
export async function proposalsAt(
  source: SchemaSource,
  lines: Lines,
  line: number,
  column: number
): Promise<Proposals | undefined> {
  const spot = spotAt(lines, line, column)
  if (!spot) return undefined
  const make = (items: Proposal[]): Proposals | undefined =>
    items.length ? { from: spot.from, to: spot.to, word: spot.word, column: spot.column, items } : undefined
  const top = await headProposals(source, spot)
  if (top) return make(top)
  const root = await source.root(spot.head)
  if (!root) return make(!spot.steps.length && spot.at === 'key' ? beginning(spot) : [])
  const schema = walk(root, spot.steps)
  if (!schema) return undefined
  const names = (await source.values?.(spot.head, pathOf(spot))) ?? []
  if (spot.at === 'key' && schema.properties) return make(keys(schema, root, spot))
  if (spot.at === 'value' || spot.steps.at(-1)?.key === itemStep) {
    return make([...new Set([...valuesOf(schema), ...names])].map(value))
  }
  return undefined
}

/** apiVersion and kind, which determine everything else. */
async function headProposals(source: SchemaSource, spot: Spot): Promise<Proposal[] | undefined> {
  if (spot.at !== 'value' || spot.steps.length !== 1) return undefined
  const key = spot.steps[0]?.key
  if (key !== 'kind' && key !== 'apiVersion') return undefined
  const heads = await source.heads()
  const { apiVersion, kind } = spot.head
  if (key === 'kind') {
    const fitting = heads.filter((h) => !apiVersion || h.apiVersion === apiVersion)
    return (fitting.length ? fitting : heads).map((h) => ({ ...value(h.kind), type: h.apiVersion }))
  }
  const fitting = heads.filter((h) => h.kind === kind)
  return [...new Set((fitting.length ? fitting : heads).map((h) => h.apiVersion))].map(value)
}

function beginning(spot: Spot): Proposal[] {
  const there = spot.beside()
  return ['apiVersion', 'kind']
    .filter((k) => !there.has(k))
    .map((k) => ({ ...value(k), type: 'string', required: true, shape: 'scalar' as const }))
}

function keys(schema: Schema, root: SchemaRoot, spot: Spot): Proposal[] {
  const there = spot.beside()
  const required = new Set(schema.required)
  const items = Object.entries(schema.properties ?? {})
    .filter(([name]) => name === spot.word || !there.has(name))
    .map(([name, property]): Proposal => {
      const settled = settle(property, root.resolve) ?? property
      return {
        label: name,
        type: typeOf(property, root.resolve),
        required: required.has(name),
        documentation: settled.description ?? '',
        shape: shapeOf(settled),
      }
    })
  return items.sort((a, b) => Number(b.required) - Number(a.required) || a.label.localeCompare(b.label))
}

/** A path without its list steps: spec.containers.image. */
function pathOf(spot: Spot): string[] {
  return spot.steps.map((s) => s.key).filter((k) => k !== itemStep)
}

/** Documentation of the key at a position; undefined when there is none. */
export async function documentationAt(
  source: SchemaSource,
  lines: Lines,
  line: number,
  column: number
): Promise<FieldDocumentation | undefined> {
  const spot = spotAt(lines, line, column, true)
  if (!spot || spot.at !== 'key' || !spot.word || column < spot.from || column > spot.to) return undefined
  const root = await source.root(spot.head)
  if (!root) return undefined
  const parent = walk(root, spot.steps)
  const schema = walk(root, [...spot.steps, { key: spot.word, beside: spot.beside }])
  if (!schema) return undefined
  const property = parent?.properties?.[spot.word]
  return {
    name: spot.word,
    type: typeOf(property && !property.choose ? property : schema, root.resolve),
    required: parent?.required?.includes(spot.word) ?? false,
    documentation: schema.description ?? '',
    values: schema.enum ? valuesOf(schema) : [],
    from: spot.from,
    to: spot.to,
  }
}

/**
 * A schema's description as paragraphs and list items: it wraps lines as in its source,
 * and its list items may run on in one line.
 */
export function reflowed(text: string): string {
  return text
    .replace(/([^\n])\n(?![\n\s]*(?:\n|[-*] |\|))/g, '$1 ')
    .replace(/([.:;]) - (?=[A-Z`"'])/g, '$1\n- ')
    .replace(/[ \t]+/g, ' ')
    .trim()
}

/** The key that an unknown key was probably meant to be; undefined when none is close. */
export async function meantAt(
  source: SchemaSource,
  lines: Lines,
  line: number
): Promise<{ from: number; to: number; key: string } | undefined> {
  const text = lines.line(line)
  const column = text.length - text.replace(/^[\s-]*/, '').length
  const spot = spotAt(lines, line, column, true)
  if (!spot || spot.at !== 'key' || !spot.word) return undefined
  const root = await source.root(spot.head)
  const parent = root && walk(root, spot.steps)
  if (!parent?.properties || spot.word in parent.properties) return undefined
  const key = nearest(
    spot.word,
    Object.keys(parent.properties).filter((k) => !spot.beside().has(k))
  )
  return key === undefined ? undefined : { from: spot.from, to: spot.to, key }
}

/** The candidate with the smallest edit distance from word, if that is small enough for a typo. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const most = word.length < 5 ? 1 : word.length < 9 ? 2 : 3
  let best: string | undefined
  let least = most + 1
  for (const candidate of candidates) {
    const d = distance(word.toLowerCase(), candidate.toLowerCase(), least)
    if (d < least) {
      least = d
      best = candidate
    }
  }
  return best
}

/** The number of letters to insert, delete, replace or swap; `limit` when it is that or more. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let d = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) d = Math.min(d, (before[j - 2] ?? 0) + 1)
      row.push(d)
    }
    before = last
    last = row
  }
  return Math.min(limit, last[b.length] ?? limit)
}
