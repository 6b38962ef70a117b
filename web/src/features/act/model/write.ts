// Changes to objects of the cluster as data: what a change sends to the API server, and
// what undoes it. Nothing here talks to the server; perform does.

import { isRecord } from '@/api/http'
import type { KubeObject, Node, Taint } from '@/api/types'
import type { ObjectRef } from '@/kubernetes/object'
import { same } from '@/kubernetes/merge'

/** A taint is identified by its key and effect. */
export type TaintKey = Pick<Taint, 'key' | 'effect'>

export type Write =
  /**
   * A JSON merge patch (RFC 7386), of the object or of its status. With `expect`, these fields must
   * still have these values: undoing must not overwrite what came later.
   */
  | { op: 'merge'; of: ObjectRef; patch: Fields; expect?: Fields; subresource?: 'status' | 'resize' }
  /** Taints are a list, which a merge patch would replace as a whole, so they are changed one by one. */
  | { op: 'taints'; of: ObjectRef; add: readonly Taint[]; remove: readonly TaintKey[] }
  /** With a uid, only exactly this object is deleted. */
  | { op: 'delete'; of: ObjectRef; uid?: string }
  /** Deletes a pod as the taint eviction controller does. `at` (RFC 3339) is the time of its condition. */
  | { op: 'evict'; of: ObjectRef; at: string }
  | { op: 'create'; of: ObjectRef; object: KubeObject }
  | { op: 'recreate'; of: ObjectRef; object: KubeObject }

/** A part of an object. null removes a field. */
export interface Fields {
  [field: string]: unknown
}

const isSame = (a: TaintKey, b: TaintKey) => a.key === b.key && a.effect === b.effect

export function taintsAfter(
  taints: readonly Taint[],
  { add, remove }: { add: readonly Taint[]; remove: readonly TaintKey[] }
): Taint[] {
  const kept = taints.filter((t) => !remove.some((r) => isSame(r, t)) && !add.some((a) => isSame(a, t)))
  return [...kept, ...add]
}

export const taintsOf = (object: KubeObject): readonly Taint[] => (object as Node).spec?.taints ?? []

/** The values in an object of the fields that a patch sets; null for a field that the object lacks. */
export function valuesOf(object: unknown, patch: Fields): Fields {
  const from: Fields = isRecord(object) ? object : {}
  return Object.fromEntries(
    Object.entries(patch).map(([key, value]) => [
      key,
      isRecord(value) ? valuesOf(from[key], value) : (from[key] ?? null),
    ])
  )
}

export function hasValues(object: unknown, values: Fields): boolean {
  return same(valuesOf(object, values), values)
}

/**
 * The merge patch that turns one object into the other, without the fields that the server
 * sets. Lists are replaced as a whole, as the patch does.
 */
export function patchBetween(from: Fields, to: Fields): Fields {
  const patch: Fields = {}
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [before, after] = [from[key], to[key]]
    if (same(before, after)) continue
    if (isRecord(before) && isRecord(after)) patch[key] = patchBetween(before, after)
    else patch[key] = after ?? null
  }
  return patch
}

/** The fields of an object that a user changes; the rest belongs to the server. */
export function changeable(object: KubeObject): Fields {
  const { labels, annotations, finalizers } = object.metadata as unknown as Fields
  return { ...without(object, ['status']), metadata: { labels, annotations, finalizers } }
}

export function without(object: object, fields: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)))
}

/**
 * The write that undoes another one, given the object before and after it; undefined when
 * nothing undoes it. A recreated object is not undone: its old node is not an answer of the
 * scheduler any more.
 */
export function inverseOf(
  write: Write,
  before: KubeObject | undefined,
  after: KubeObject | undefined
): Write | undefined {
  const { of } = write
  switch (write.op) {
    case 'merge':
      return (
        before && {
          op: 'merge',
          of,
          patch: valuesOf(before, write.patch),
          expect: after ? valuesOf(after, write.patch) : write.patch,
          ...(write.subresource ? { subresource: write.subresource } : {}),
        }
      )
    case 'taints': {
      const was = before ? taintsOf(before) : []
      const find = (key: TaintKey) => was.filter((t) => isSame(t, key))
      return {
        op: 'taints',
        of,
        add: [...write.add, ...write.remove].flatMap(find),
        remove: write.add.filter((t) => !find(t).length),
      }
    }
    case 'delete':
      return before && !isManaged(before) ? { op: 'create', of, object: before } : undefined
    case 'create':
      return after && { op: 'delete', of, ...(after.metadata.uid ? { uid: after.metadata.uid } : {}) }
    default:
      return undefined
  }
}

/** A controller creates a replacement, so creating the object again would be one too many. */
export function isManaged(object: KubeObject): boolean {
  return !!object.metadata.ownerReferences?.some((owner) => owner.controller)
}
