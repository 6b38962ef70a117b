// A YAML text as fields to fill in: its single values with their places, so that one can be
// written anew while all else, comments too, stays as it is.

import { isMap, isScalar, isSeq, parseAllDocuments, stringify, type Scalar } from 'yaml'

export interface FormField {
  path: readonly (string | number)[]
  /** The path as it is read: spec.containers[0].image. */
  label: string
  value: string | number | boolean | null
  /** Where the value stands in the text. */
  from: number
  to: number
}

export interface FormDocument {
  apiVersion: string
  kind: string
  name: string
  fields: FormField[]
}

/** The documents of a text; undefined when it cannot be read. Values of several lines are left to the text. */
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
  // An anchor or a tag belongs to the value, and a block of lines is no single value.
  if (node.anchor || node.tag || text.slice(from, to).includes('\n')) return undefined
  return { path, label: labelOf(path), value: value as FormField['value'], from, to }
}

function labelOf(path: readonly (string | number)[]): string {
  return path.reduce<string>((label, step) => (typeof step === 'number' ? `${label}[${step}]` : /[./]/.test(step) ? `${label}[${step}]` : label ? `${label}.${step}` : step), '')
}

/**
 * The text with another value of a field, which is of this text. What is typed is taken for
 * what the field held before or may hold by its schema: a word stays a word where it looks
 * like a number.
 */
export function withValue(text: string, field: FormField, typed: string, type: 'string' | 'number' | 'boolean'): string {
  const value = type === 'number' && /^-?\d+(\.\d+)?$/.test(typed) ? Number(typed) : type === 'boolean' ? typed === 'true' : typed
  const before = text.slice(0, field.from)
  // A value that was left out stands right behind its colon.
  const space = field.from === field.to && /[:-]$/.test(before) ? ' ' : ''
  return before + space + stringify(value, { lineWidth: 0 }).trimEnd() + text.slice(field.to)
}
