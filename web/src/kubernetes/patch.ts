// Strategic merge patches, which know the lists that Kubernetes merges by a key, and the
// differences of two objects.

import { same } from './merge'

type Json = unknown
type Fields = Record<string, Json>

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

/** The object after the patch. Neither argument changes. */
export function applyPatch(object: Json, patch: Fields): Fields {
  const { $patch: directive, $retainKeys: kept, ...fields } = patch
  if (directive === 'replace') return plain(fields) as Fields
  const retained = Array.isArray(kept) ? new Set(kept) : undefined
  const out: Fields = {}
  if (isMap(object))
    for (const [key, value] of Object.entries(object)) if (!retained || retained.has(key)) out[key] = value
  for (const [key, value] of Object.entries(fields)) {
    if (key.startsWith('$')) continue
    if (value === null) Reflect.deleteProperty(out, key)
    else if (isMap(value)) {
      if (value.$patch === 'delete') Reflect.deleteProperty(out, key)
      else out[key] = applyPatch(out[key], value)
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
    } else if (at >= 0) out[at] = applyPatch(out[at], item)
    else out.push(plain(item))
  }
  return out
}

/** What a patch adds, without the directives that say how. */
function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain)
  return isMap(value) ? applyPatch({}, value) : value
}

// Differences.

/** The strategic merge patch that turns one object into the other. */
export function patchFromTo(from: Fields, to: Fields): Fields {
  const patch: Fields = {}
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [before, after] = [from[key], to[key]]
    if (same(before, after)) continue
    if (after === undefined) patch[key] = null
    else if (isMap(before) && isMap(after)) patch[key] = patchFromTo(before, after)
    else if (Array.isArray(before) && Array.isArray(after)) patch[key] = patchOfList(before, after, mergeKeys[key])
    else patch[key] = after
  }
  return patch
}

/** Items are patched one by one if their keys tell them apart and the merge leaves them in their order. */
function patchOfList(before: readonly Json[], after: readonly Json[], keys: readonly string[] | undefined): Json[] {
  if (!keys) return [...after]
  const key = keys.find((k) => [...before, ...after].every((item) => isMap(item) && item[k] !== undefined))
  const identities = (list: readonly Json[]) => list.map((item) => (item as Fields)[key ?? ''])
  const [had, has] = key ? [identities(before), identities(after)] : [[], []]
  const kept = had.filter((one) => has.includes(one))
  const inOrder = same([...kept, ...has.filter((one) => !had.includes(one))], has)
  if (!key || new Set(had).size < had.length || new Set(has).size < has.length || !inOrder)
    return [{ $patch: 'replace' }, ...after]
  const gone = had.filter((one) => !has.includes(one)).map((one) => ({ [key]: one, $patch: 'delete' }))
  const changed = after.flatMap((item) => {
    const old = before.find((other) => (other as Fields)[key] === (item as Fields)[key])
    if (same(old, item)) return []
    return [old ? { ...patchFromTo(old as Fields, item as Fields), [key]: (item as Fields)[key] } : item]
  })
  return [...gone, ...changed]
}

/** A field that differs; undefined where it does not exist. */
export interface FieldChange {
  /** As Kubernetes writes it: spec.containers[0].image. */
  path: string
  from: unknown
  to: unknown
}

/** The fields that differ, each at its deepest place; a list of another length differs as a whole. */
export function fieldsBetween(from: Json, to: Json, path = ''): FieldChange[] {
  if (same(from, to)) return []
  if (isMap(from) && isMap(to)) {
    const at = (key: string) => (/[./]/.test(key) ? `${path}[${key}]` : path ? `${path}.${key}` : key)
    return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
      fieldsBetween(from[key], to[key], at(key))
    )
  }
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length)
    return from.flatMap((item, i) => fieldsBetween(item, to[i], `${path}[${i}]`))
  return [{ path, from, to }]
}

function isMap(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
