// Checks an object against the schema of its kind: what the API server would refuse while it
// decodes the object, but without telling the line. The server's own validation, which also
// knows the other objects, comes later, in a dry run.

import { settle, type Schema, type SchemaRoot } from './schema'

export type Finding =
  | { kind: 'unknownField'; path: string; field: string }
  | { kind: 'notQuantity'; path: string; field: string; value: string }
  | { kind: 'wrongType'; path: string; field: string; type: ScalarType | 'list' | 'map' }
  /** The schema lists the values that it allows. */
  | { kind: 'notAllowed'; path: string; field: string; value: string; allowed: string }

export type ScalarType = 'string' | 'integer' | 'number' | 'boolean' | 'quantity'

/** More findings than this say no more. */
const most = 50

/** What is wrong with the value, in its order. */
export function validate(value: unknown, root: SchemaRoot): Finding[] {
  const found: Finding[] = []
  check(value, root.schema, { path: '', field: '' }, root, found)
  return found
}

/** From apimachinery, pkg/api/resource: what ParseQuantity accepts. */
const quantity = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+|Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E)?$/

/** Whether Kubernetes reads a value as an amount: 500m, 2, 4Gi, 1e3. */
export function isQuantity(value: unknown): boolean {
  return (typeof value === 'number' && Number.isFinite(value)) || (typeof value === 'string' && quantity.test(value))
}

/** The type of a scalar in a schema; undefined for maps, lists and values of any type. */
export function scalarType(schema: Schema, root: SchemaRoot): ScalarType | undefined {
  const reference = schema.$ref ?? schema.allOf?.find((part) => part.$ref)?.$ref
  if (reference?.endsWith('.api.resource.Quantity')) return 'quantity'
  const s = settle(schema, root.resolve)
  if (!s || s['x-kubernetes-int-or-string'] || s.format === 'int-or-string') return undefined
  return s.type === 'string' || s.type === 'integer' || s.type === 'number' || s.type === 'boolean' ? s.type : undefined
}

interface At {
  /** As the API server writes it: spec.containers[0].image. */
  path: string
  /** The last key of the path. */
  field: string
}

function check(value: unknown, schema: Schema, at: At, root: SchemaRoot, found: Finding[]): void {
  // null is the same as absent.
  if (value === null || value === undefined || found.length >= most) return
  const scalar = scalarType(schema, root)
  if (scalar) return checkScalar(value, scalar, settle(schema, root.resolve) ?? schema, at, found)
  const s = settle(schema, root.resolve)
  if (!s) return
  if (s.type === 'array' || s.items) {
    if (!Array.isArray(value)) found.push({ kind: 'wrongType', ...at, type: 'list' })
    else if (s.items)
      value.forEach(
        (item, i) => s.items && check(item, s.items, { path: `${at.path}[${i}]`, field: at.field }, root, found)
      )
    return
  }
  const isMap = typeof value === 'object' && !Array.isArray(value)
  if (!s.properties && typeof s.additionalProperties !== 'object') return
  if (isMap) checkMap(value as Record<string, unknown>, s, at, root, found)
  else found.push({ kind: 'wrongType', ...at, type: 'map' })
}

function checkMap(value: Record<string, unknown>, schema: Schema, at: At, root: SchemaRoot, found: Finding[]): void {
  const { properties = {}, additionalProperties } = schema
  const open =
    !!additionalProperties || schema['x-kubernetes-preserve-unknown-fields'] || schema['x-kubernetes-embedded-resource']
  for (const [key, item] of Object.entries(value)) {
    const inner = { path: keyPath(at.path, key), field: key }
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (property) check(item, property, inner, root, found)
    else if (typeof additionalProperties === 'object') check(item, additionalProperties, inner, root, found)
    else if (!open) found.push({ kind: 'unknownField', ...inner })
  }
}

function checkScalar(value: unknown, type: ScalarType, schema: Schema, at: At, found: Finding[]): void {
  if (type === 'quantity') {
    if (!isQuantity(value)) found.push({ kind: 'notQuantity', ...at, value: textOf(value) })
    return
  }
  const fits = type === 'integer' ? Number.isInteger(value) : typeof value === type
  if (!fits) found.push({ kind: 'wrongType', ...at, type })
  else if (typeof value === 'string' && value && schema.enum?.length && !schema.enum.includes(value))
    found.push({ kind: 'notAllowed', ...at, value, allowed: schema.enum.filter(Boolean).join(', ') })
}

const textOf = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** A key with dots or slashes is written in brackets. */
export function keyPath(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${key}]`
  return path ? `${path}.${key}` : key
}
