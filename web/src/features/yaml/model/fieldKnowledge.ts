// What the schema says about the fields of a form.

import type { FormDocument, FormField, Path } from './form'
import {
  itemStep,
  settle,
  shapeOf,
  starter,
  typeOf,
  walk,
  type Schema,
  type SchemaRoot,
  type SchemaSource,
} from './schema'
import { scalarType } from './validation'

/** A field that a map can get. */
export interface Addable {
  key: string
  type: string
  required: boolean
  documentation: string
}

export interface Knowledge {
  type: string
  input: 'string' | 'number' | 'boolean'
  /** The only values that the schema allows; empty if it allows others. */
  choices: readonly string[]
  /** Values that make sense, such as names of objects in the cluster. */
  proposals: readonly string[]
  documentation: string
  /** The schema requires it, or it says what the object is. */
  required: boolean
  /** Of a map: the fields that it does not have yet, required ones first. */
  addable: readonly Addable[]
  /** Of a map: it takes any key. */
  open: boolean
  /** Of a list, or of a map that takes any key: the value of a new entry. */
  entry: unknown
  /** The value of a new field, by its key. */
  start: (key: string) => unknown
}

const heads = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * The knowledge about each field of a document by its label; that of the document itself has the
 * label ''.
 */
export async function knowledgeOf(
  document: FormDocument,
  fields: readonly FormField[],
  root: SchemaRoot | undefined,
  source: Pick<SchemaSource, 'values'>
): Promise<Map<string, Knowledge>> {
  const found = new Map<string, Knowledge>()
  const keysOf = (path: Path) =>
    document.fields
      .filter((f) => f.path.length === path.length + 1 && path.every((step, i) => f.path[i] === step))
      .map((f) => String(f.path.at(-1)))
  const at = (path: Path) => root && schemaAt(root, path)
  const top: FormField = { path: [], label: '', kind: 'map', value: null, from: 0, to: 0, size: 0 }
  for (const field of [top, ...fields]) {
    const own = at(field.path)
    const last = field.path.at(-1)
    const names =
      source.values && field.kind === 'scalar'
        ? await source.values(
            document,
            field.path.filter((step) => typeof step === 'string')
          )
        : []
    const parent = at(field.path.slice(0, -1))
    const required =
      typeof last === 'string' &&
      (!!parent?.schema.required?.includes(last) || (field.path.length === 1 && heads.has(last)))
    found.set(field.label, {
      ...about(field, own, root, field.kind === 'map' ? keysOf(field.path) : []),
      proposals: names,
      required,
    })
  }
  return found
}

interface At {
  /** As in the schema, possibly a reference, which names the type. */
  raw: Schema
  schema: Schema
}

function schemaAt(root: SchemaRoot, path: Path): At | undefined {
  const steps = path.map((step) => ({
    key: typeof step === 'number' ? itemStep : step,
    beside: () => new Map<string, string>(),
  }))
  const schema = walk(root, steps)
  const last = steps.pop()
  const parent = last && walk(root, steps)
  const raw = !last
    ? root.schema
    : last.key === itemStep
      ? parent?.items
      : (parent?.properties?.[last.key] ??
        (typeof parent?.additionalProperties === 'object' ? parent.additionalProperties : undefined))
  return schema && raw && { raw, schema }
}

function about(
  field: FormField,
  at: At | undefined,
  root: SchemaRoot | undefined,
  has: readonly string[]
): Omit<Knowledge, 'proposals' | 'required'> {
  const nothing = {
    type: '',
    input: inputOf(field, undefined),
    choices: [],
    documentation: '',
    addable: [],
    open: field.kind === 'map',
    entry: '',
    start: () => '',
  }
  if (!at || !root) return nothing
  const { schema, raw } = at
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
  const isBoolean = schema.type === 'boolean'
  return {
    type: typeOf(raw, root.resolve),
    input: inputOf(field, scalarType(raw, root)),
    choices: isBoolean ? [] : (schema.enum ?? []).filter((value) => value !== '' && value !== null).map(String),
    documentation: schema.description ?? '',
    addable: addableOf(schema, root, has),
    open:
      !!values || !!schema['x-kubernetes-preserve-unknown-fields'] || (shapeOf(schema) === 'map' && !schema.properties),
    entry: starter(schema.items ?? values, root),
    start: (key) => starter(schema.properties?.[key] ?? values, root),
  }
}

function addableOf(schema: Schema, root: SchemaRoot, has: readonly string[]): Addable[] {
  const known = Object.entries(schema.properties ?? {}).filter(([key]) => !has.includes(key))
  return known
    .map(([key, property]) => ({
      key,
      type: typeOf(property, root.resolve),
      required: !!schema.required?.includes(key),
      documentation: settle(property, root.resolve)?.description ?? '',
    }))
    .sort((a, b) => Number(b.required) - Number(a.required) || a.key.localeCompare(b.key))
}

function inputOf({ value }: FormField, type: ReturnType<typeof scalarType>): Knowledge['input'] {
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'boolean'
  if (type === 'string') return 'string'
  // A quantity, an integer or string, or a field without a schema keeps the type that it has.
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'string'
}

/** The first sentence of a description, and whether there is more. */
export function firstSentence(documentation: string): { first: string; more: boolean } {
  const text = documentation.replace(/\s+/g, ' ').trim()
  const first = /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text
  return { first, more: first.length < text.length }
}
