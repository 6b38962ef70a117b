// Merges two changes to one object: the original, my version, and the version that other
// clients made of it.

import type { KubeObject } from '@/api/types'
import { serverMetadata, withoutServerMetadata } from './object'

export interface Merged {
  object: KubeObject
  /** Fields that both changed to different values; the merge takes mine. */
  conflicts: string[]
}

type Json = unknown

/** Applies my changes to their version. Server-set fields come from theirs. */
export function mergeChanges(base: KubeObject, mine: KubeObject, theirs: KubeObject): Merged {
  const conflicts: string[] = []
  const object = merge(base, mine, theirs, '', conflicts) as KubeObject
  const set = Object.entries(theirs.metadata).filter(([field]) => serverMetadata.has(field))
  return {
    object: { ...object, metadata: { ...withoutServerMetadata(object).metadata, ...Object.fromEntries(set) } },
    conflicts: conflicts.filter((path) => !serverMetadata.has(/^metadata\.(\w+)/.exec(path)?.[1] ?? '')),
  }
}

function merge(base: Json, mine: Json, theirs: Json, path: string, conflicts: string[]): Json {
  if (same(mine, theirs) || same(base, theirs)) return mine
  if (same(base, mine)) return theirs
  if (isMap(mine) && isMap(theirs)) return mergeMaps(isMap(base) ? base : {}, mine, theirs, path, conflicts)
  const lists = [base, mine, theirs].map(byName)
  if (lists[1] && lists[2]) return mergeLists(lists[0] ?? new Map(), lists[1], lists[2], path, conflicts)
  conflicts.push(path)
  return mine
}

function mergeMaps(
  base: Record<string, Json>,
  mine: Record<string, Json>,
  theirs: Record<string, Json>,
  path: string,
  conflicts: string[]
): Json {
  const out: Record<string, Json> = {}
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
    const value = merge(base[key], mine[key], theirs[key], join(path, key), conflicts)
    if (value !== undefined) out[key] = value
  }
  return out
}

/** Lists whose items have names (containers, volumes) are merged item by item. */
function mergeLists(
  base: Map<string, Json>,
  mine: Map<string, Json>,
  theirs: Map<string, Json>,
  path: string,
  conflicts: string[]
): Json {
  const out: Json[] = []
  for (const name of new Set([...theirs.keys(), ...mine.keys()])) {
    const value = merge(base.get(name), mine.get(name), theirs.get(name), `${path}[${name}]`, conflicts)
    if (value !== undefined) out.push(value)
  }
  return out
}

function byName(value: Json): Map<string, Json> | undefined {
  if (!Array.isArray(value)) return undefined
  const out = new Map<string, Json>()
  for (const item of value as Json[]) {
    if (!isMap(item)) return undefined
    const name = item.name ?? item.type ?? item.key
    if (typeof name !== 'string' || out.has(name)) return undefined
    out.set(name, item)
  }
  return out
}

const join = (path: string, key: string) => (/[./]/.test(key) ? `${path}[${key}]` : path ? `${path}.${key}` : key)

function isMap(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Equal as JSON, regardless of key order. */
export function same(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
  if (!isMap(a) || !isMap(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && same(a[key], b[key]))
}
