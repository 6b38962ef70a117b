// A YAML text as fields of a form: its scalar values with their positions, so that one
// can be replaced while everything else, including comments, stays the same.

import { isMap, isScalar, isSeq, parseAllDocuments, stringify, type Scalar } from 'yaml'

export interface FormField {
  path: readonly (string | number)[]
  /** The path for display: spec.containers[0].image. */
  label: string
  value: string | number | boolean | null
  /** The position of the value in the text. */
  from: number
  to: number
}

export interface FormDocument {
  apiVersion: string
  kind: string
  name: string
  fields: FormField[]
}

/** The documents of a text; undefined when it cannot be parsed. It leaves out multi-line values. */
export function formOf(text: string): FormDocument[] | undefined {
  const documents = parseAllDocuments(text, { prettyErrors: false })
  if (!Array.isArray(documents) || documents.some((d) => d.errors.length)) return undefined
  return documents.flatMap((document): FormDocument[] => {
    if (!isMap(document.contents)) return []
    const head = (path: string[]) => {
      const value: unknown = document.getIn(path)
      return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
    }
    const fields: FormField[] = []
    collect(document.contents, [], fields, text)
    return [{ apiVersion: head(['apiVersion']), kind: head(['kind']), name: head(['metadata', 'name']), fields }]
  })
}

function collect(node: unknown, path: readonly (string | number)[], fields: FormField[], text: string): void {
  if (isMap(node)) for (const { key, value } of node.items) collect(value, [...path, String(isScalar(key) ? key.value : key)], fields, text)
  else if (isSeq(node)) node.items.forEach((item, i) => collect(item, [...path, i], fields, text))
  else if (isScalar(node)) {
    const field = fieldOf(node, path, text)
    if (field) fields.push(field)
  }
}

function fieldOf(node: Scalar, path: readonly (string | number)[], text: string): FormField | undefined {
  const { value, range } = node
  if (!range || !(value === null || ['string', 'number', 'boolean'].includes(typeof value))) return undefined
  const [from, to] = range
  // An anchor or a tag belongs to the value, and a block scalar is not a single value.
  if (node.anchor || node.tag || text.slice(from, to).includes('\n')) return undefined
  return { path, label: labelOf(path), value: value as FormField['value'], from, to }
}

function labelOf(path: readonly (string | number)[]): string {
  return path.reduce<string>((label, step) => (typeof step === 'number' ? `${label}[${step}]` : /[./]/.test(step) ? `${label}[${step}]` : label ? `${label}.${step}` : step), '')
}

/**
 * Returns the text with a new value for a field of this text. The input gets the type that
 * the field had or that its schema allows: a string stays a string even if it looks like a
 * number.
 */
export function withValue(text: string, field: FormField, typed: string, type: 'string' | 'number' | 'boolean'): string {
  const value = type === 'number' && /^-?\d+(\.\d+)?$/.test(typed) ? Number(typed) : type === 'boolean' ? typed === 'true' : typed
  const before = text.slice(0, field.from)
  // A missing value goes right after its colon.
  const space = field.from === field.to && /[:-]$/.test(before) ? ' ' : ''
  return before + space + stringify(value, { lineWidth: 0 }).trimEnd() + text.slice(field.to)
}
