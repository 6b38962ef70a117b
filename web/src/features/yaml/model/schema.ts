// Schemas of documents: a tree like that of JSON Schema and OpenAPI, and the walk along a
// path in it. Completion and hover documentation are based on it.

/** One node of a schema, with only the fields that we read. */
export interface Schema {
  type?: string
  format?: string
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  required?: string[]
  enum?: unknown[]
  default?: unknown
  allOf?: Schema[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  $ref?: string
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[]
  /**
   * Our extension: the schema of this field depends on scalars beside it in the same
   * mapping (a plugin's arguments on its name). undefined: unknown.
   */
  choose?(beside: ReadonlyMap<string, string>): Schema | undefined
}

/** A schema and the resolver of its references. */
export interface SchemaRoot {
  schema: Schema
  /** Follows a $ref; undefined when its target does not exist. */
  resolve(ref: string): Schema | undefined
}

/** The type of a document. */
export interface Head {
  apiVersion: string
  kind: string
}

/** Provides schemas to the editor. It may answer late, but must not throw. */
export interface SchemaSource {
  /** The schema of a document; undefined when none is known. */
  root(head: Head): Promise<SchemaRoot | undefined>
  /** Known values of apiVersion and kind, for the first lines of a document. */
  heads(): Promise<readonly Head[]>
  /** Names that make sense as a field's value (a node, a class), in addition to those in its schema. */
  values?(head: Head, path: readonly string[]): Promise<readonly string[]>
}

/** A step into the items of a list; other steps are keys. */
export const itemStep = '[]'

export interface Step {
  key: string
  /** Scalars beside key. */
  beside(): ReadonlyMap<string, string>
}

const maxDepth = 12

/**
 * Follows references and the wrappers that OpenAPI puts around them; the description closest to the
 * field wins.
 */
export function settle(schema: Schema | undefined, resolve: SchemaRoot['resolve'], depth = 0): Schema | undefined {
  if (!schema || depth > maxDepth) return schema
  if (schema.$ref) {
    const target = settle(resolve(schema.$ref), resolve, depth + 1)
    if (!target) return undefined
    return schema.description ? { ...target, description: schema.description } : target
  }
  if (!schema.properties && !schema.items && schema.allOf?.length) {
    const parts = schema.allOf.map((part) => settle(part, resolve, depth + 1) ?? {})
    const merged: Schema = Object.assign({}, ...parts, schema)
    delete merged.allOf
    return merged
  }
  return schema
}

/** The schema at the end of steps; undefined when a step is unknown. */
export function walk(root: SchemaRoot, steps: readonly Step[]): Schema | undefined {
  let at = settle(root.schema, root.resolve)
  for (const step of steps) {
    if (!at) return undefined
    at = settle(stepInto(at, step), root.resolve)
  }
  return at
}

function stepInto(schema: Schema, { key, beside }: Step): Schema | undefined {
  if (key === itemStep) return schema.items
  const named = schema.properties?.[key]
  const found = named ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined)
  return found?.choose ? found.choose(beside()) : found
}

/** A type in short: string, []string, map[string]string, Quantity, object. */
export function typeOf(schema: Schema, resolve: SchemaRoot['resolve'], depth = 0): string {
  const reference = schema.$ref ?? schema.allOf?.find((part) => part.$ref)?.$ref
  const s = settle(schema, resolve) ?? schema
  if (depth < 4) {
    if (s.type === 'array') return `[]${s.items ? typeOf(s.items, resolve, depth + 1) : 'object'}`
    if (typeof s.additionalProperties === 'object' && !s.properties)
      return `map[string]${typeOf(s.additionalProperties, resolve, depth + 1)}`
  }
  if (s['x-kubernetes-int-or-string'] || s.format === 'int-or-string') return 'integer or string'
  const name = reference?.slice(reference.lastIndexOf('.') + 1)
  if (name && (s.properties || s.type === 'object' || /^(Quantity|Time|MicroTime|Duration|IntOrString)$/.test(name)))
    return name
  return s.type ?? (s.properties ? 'object' : s.oneOf || s.anyOf ? 'any' : 'object')
}

export type Shape = 'scalar' | 'map' | 'list'

/** The kind of value that is written there. */
export function shapeOf(schema: Schema): Shape {
  if (schema.type === 'array' || schema.items) return 'list'
  if (
    schema.properties ||
    typeof schema.additionalProperties === 'object' ||
    schema.type === 'object' ||
    schema['x-kubernetes-preserve-unknown-fields']
  )
    return 'map'
  return 'scalar'
}

/** Values that the schema allows or proposes, as YAML. */
export function valuesOf(schema: Schema): string[] {
  const values = (schema.enum ?? []).filter((v) => v !== '' && v !== null).map(plain)
  if (schema.type === 'boolean' && !values.length) return ['true', 'false']
  const fallback = schema.default
  if (!values.length && (typeof fallback === 'string' || typeof fallback === 'number') && fallback !== '')
    return [plain(fallback)]
  return values
}

/** A value of an enum as YAML: quoted if a plain string would be parsed as something else. */
function plain(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  return /^(true|false|null|yes|no|on|off|~|-?[\d.]+)$/i.test(value) || value === '' ? JSON.stringify(value) : value
}

/**
 * A start for an object of a kind: its required fields, with only the values that the
 * schema provides.
 */
export function skeleton(head: Head, namespaced: boolean, root: SchemaRoot | undefined): string {
  const lines = [
    `apiVersion: ${head.apiVersion}`,
    `kind: ${head.kind}`,
    'metadata:',
    `  name: my-${head.kind.toLowerCase()}`,
  ]
  if (namespaced) lines.push('  namespace: default')
  const top = root && settle(root.schema, root.resolve)
  if (root && top?.properties) {
    const wanted = new Set([...(top.required ?? []), ...('spec' in top.properties ? ['spec'] : [])])
    for (const name of wanted) {
      if (['apiVersion', 'kind', 'metadata', 'status'].includes(name)) continue
      writeField(name, top.properties[name], root, '', lines, 0)
    }
  }
  return `${lines.join('\n')}\n`
}

/**
 * A value to start a new field with: its default or first allowed value, with only the
 * required fields of a map, and one item of a list.
 */
export function starter(schema: Schema | undefined, root: SchemaRoot, depth = 0): unknown {
  const s = settle(schema, root.resolve)
  if (!s) return ''
  const shape = shapeOf(s)
  if (shape === 'list') return depth < 4 && s.items ? [starter(s.items, root, depth + 1)] : []
  if (shape === 'map')
    return Object.fromEntries(
      depth < 4 ? (s.required ?? []).map((key) => [key, starter(s.properties?.[key], root, depth + 1)]) : []
    )
  if (s.type === 'boolean') return s.default ?? false
  const first = s.default ?? (s.enum ?? []).find((value) => value !== '' && value !== null)
  return first ?? (s.type === 'integer' || s.type === 'number' ? 0 : '')
}

function writeField(
  name: string,
  schema: Schema | undefined,
  root: SchemaRoot,
  indent: string,
  lines: string[],
  depth: number
): void {
  const s = settle(schema, root.resolve)
  if (!s) return
  const shape = shapeOf(s)
  if (shape === 'scalar') {
    const first = valuesOf(s)[0] ?? (s.type === 'integer' || s.type === 'number' ? '0' : '""')
    lines.push(`${indent}${name}: ${first}`)
    return
  }
  const inner = shape === 'list' ? settle(s.items, root.resolve) : s
  const required = depth < 4 ? (inner?.required ?? []) : []
  if (!required.length) {
    lines.push(`${indent}${name}: ${shape === 'list' ? '[]' : '{}'}`)
    return
  }
  lines.push(`${indent}${name}:`)
  const from = lines.length
  for (const key of required) writeField(key, inner?.properties?.[key], root, `${indent}  `, lines, depth + 1)
  if (shape === 'list' && lines[from] !== undefined) lines[from] = `${indent}- ${lines[from].trimStart()}`
}
