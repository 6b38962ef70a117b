// Patches of objects: a strategic merge patch, which knows which lists Kubernetes merges by
// a key, and a JSON Patch (RFC 6902), which names its places exactly.

import { same } from './merge'

type Json = unknown
type Fields = Record<string, Json>

export interface PatchStep {
  op: 'add' | 'remove' | 'replace'
  /** A JSON pointer, such as /spec/taints/0. */
  path: string
  value?: Json
}

/** An object is a strategic merge patch, a list is a JSON Patch. */
export type Patch = Fields | readonly PatchStep[]

/** The patch does not fit the object: a place that it names does not exist. */
export class PatchError extends Error {
  constructor(readonly path: string) {
    super(`${path} does not exist`)
    this.name = 'PatchError'
  }
}

/** The object after the patch; throws PatchError. Neither argument changes. */
export function applyPatch<T extends object>(object: T, patch: Patch): T {
  if (isSteps(patch)) return patch.reduce<Json>((now, step) => applyStep(now, pointer(step.path), step), object) as T
  return strategicMerge(object, patch as Fields) as T
}

const isSteps = (patch: Patch): patch is readonly PatchStep[] => Array.isArray(patch)

// ── strategic merge ─────────────────────────────────────────────────────

/**
 * The lists that Kubernetes merges by a key, by their field: patchMergeKey in the Go types
 * of its API. All other lists are replaced as a whole.
 */
const mergeKeys: Readonly<Record<string, readonly string[]>> = {
  addresses: ['type'],
  conditions: ['type'],
  containers: ['name'],
  env: ['name'],
  ephemeralContainers: ['name'],
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  overhead: ['name'],
  ownerReferences: ['uid'],
  ports: ['containerPort', 'port'],
  resourceClaims: ['name'],
  schedulingGates: ['name'],
  topologySpreadConstraints: ['topologyKey'],
  volumeDevices: ['devicePath'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
}

function strategicMerge(object: Json, patch: Fields): Fields {
  const { $patch: directive, $retainKeys: kept, ...fields } = patch
  if (directive === 'replace') return plain(fields) as Fields
  const retained = Array.isArray(kept) ? new Set(kept) : undefined
  const out: Fields = {}
  if (isMap(object)) for (const [key, value] of Object.entries(object)) if (!retained || retained.has(key)) out[key] = value
  for (const [key, value] of Object.entries(fields)) {
    if (key.startsWith('$')) continue
    if (value === null) Reflect.deleteProperty(out, key)
    else if (isMap(value)) {
      if (value.$patch === 'delete') Reflect.deleteProperty(out, key)
      else out[key] = strategicMerge(out[key], value)
    } else if (Array.isArray(value)) out[key] = mergeLists(out[key], value, mergeKeys[key])
    else out[key] = value
  }
  return out
}

function mergeLists(list: Json, patch: readonly Json[], keys: readonly string[] | undefined): Json[] {
  const key = keys?.find((k) => patch.some((item) => isMap(item) && k in item))
  const replaces = patch.some((item) => isMap(item) && item.$patch === 'replace')
  const items = patch.filter((item) => !isMap(item) || item.$patch !== 'replace')
  if (!key || replaces) return items.map(plain)
  const out: Json[] = Array.isArray(list) ? [...(list as Json[])] : []
  for (const item of items) {
    if (!isMap(item)) continue
    const at = out.findIndex((other) => isMap(other) && same(other[key], item[key]))
    if (item.$patch === 'delete') {
      if (at >= 0) out.splice(at, 1)
    } else if (at >= 0) out[at] = strategicMerge(out[at], item)
    else out.push(plain(item))
  }
  return out
}

/** What a patch adds, without the directives that say how. */
function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain)
  return isMap(value) ? strategicMerge({}, value) : value
}

// ── JSON Patch ──────────────────────────────────────────────────────────

const pointer = (path: string) => path.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
const toPointer = (path: readonly (string | number)[]) => path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

function applyStep(at: Json, [head, ...rest]: readonly string[], step: PatchStep): Json {
  if (head === undefined) return step.op === 'remove' ? undefined : step.value
  const missing = () => new PatchError(step.path)
  if (Array.isArray(at)) {
    const list = [...(at as Json[])]
    const index = head === '-' ? list.length : Number(head)
    const inserts = step.op === 'add' && !rest.length
    if (!Number.isInteger(index) || index < 0 || index > list.length - (inserts ? 0 : 1)) throw missing()
    if (inserts) list.splice(index, 0, step.value)
    else if (step.op === 'remove' && !rest.length) list.splice(index, 1)
    else list[index] = applyStep(list[index], rest, step)
    return list
  }
  if (!isMap(at)) throw missing()
  const exists = head in at
  if (!exists && (rest.length || step.op !== 'add')) throw missing()
  const out = { ...at }
  if (step.op === 'remove' && !rest.length) Reflect.deleteProperty(out, head)
  else out[head] = applyStep(at[head], rest, step)
  return out
}

/** The JSON Patch that turns one value into the other: one step per field that differs; lists of different lengths are replaced. */
export function stepsBetween(from: Json, to: Json, path: readonly (string | number)[] = []): PatchStep[] {
  if (same(from, to)) return []
  if (isMap(from) && isMap(to)) {
    const keys = new Set([...Object.keys(from), ...Object.keys(to)])
    return [...keys].flatMap((key): PatchStep[] => {
      const at = [...path, key]
      if (!(key in to)) return [{ op: 'remove', path: toPointer(at) }]
      if (!(key in from)) return [{ op: 'add', path: toPointer(at), value: to[key] }]
      return stepsBetween(from[key], to[key], at)
    })
  }
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) return from.flatMap((item, i) => stepsBetween(item, to[i], [...path, i]))
  return [{ op: 'replace', path: toPointer(path), value: to }]
}

/** A pointer as Kubernetes writes field paths: spec.containers[0].image. */
export function fieldPath(path: string): string {
  return pointer(path).reduce((out, part) => (/^\d+$/.test(part) ? `${out}[${part}]` : /[./]/.test(part) ? `${out}[${part}]` : out ? `${out}.${part}` : part), '')
}

function isMap(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
