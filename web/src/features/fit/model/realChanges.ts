// The way from a hypothesis to real changes: the writes that make it true, each of which is
// tried in a dry run before the user confirms.

import type { Change, ChangeTarget, KindInfo, KubeObject } from '@/api/types'
import {
  changeable,
  isManaged,
  patchBetween,
  valuesOf,
  without,
  type Fields,
  type Write,
} from '@/features/act/model/write'
import { cloneOf } from '@/features/create/model/clone'
import { makesCopies, objectThen, targetOf, targetsOf } from '@/features/whatif/model/hypothesis'
import { isResource, podKind } from '@/kubernetes/kinds'
import { mergeChanges, same } from '@/kubernetes/merge'
import type { ObjectRef } from '@/kubernetes/object'
import { withoutServerMetadata } from '@/kubernetes/object'

export interface Present {
  /** undefined for a kind that the API server does not serve. */
  kindOf(target: ChangeTarget): KindInfo | undefined
  /** undefined for an object that does not exist. */
  objectOf(target: ChangeTarget): KubeObject | undefined
  /** What copies of a node are made of, which the server knows. */
  copiesOf(change: Change): readonly Change[] | undefined
  /** The workload that made a pod, with its kind; undefined for a pod of its own. */
  workloadOf(pod: KubeObject): { kind: KindInfo; object: KubeObject } | undefined
}

export type RealChange =
  | { kind: 'change' | 'recreate' | 'create' | 'delete'; target: ChangeTarget; writes: Write[] }
  /**
   * The template of the workload changes; `replaces`: the pod is deleted, so that the workload
   * makes a new one.
   */
  | { kind: 'template'; target: ChangeTarget; workload: ObjectRef; replaces: boolean; writes: Write[] }
  | { kind: 'impossible'; target: ChangeTarget; why: 'unknownKind' | 'gone' | 'fixedTemplate' }

export function realChanges(changes: readonly Change[], present: Present): RealChange[] {
  const copies = changes.filter(makesCopies).map((change) => creation(change, present))
  const others = targetsOf({ changes }).flatMap((target) => changeOf(target, changes, present) ?? [])
  // The pods that go make room for the others; and a workload that is created again deletes its pods itself.
  const rank = ({ kind }: RealChange) => Number(kind !== 'delete')
  return [...copies, ...others].sort((a, b) => rank(a) - rank(b))
}

export function writesOf(all: readonly RealChange[]): Write[] {
  return all.flatMap((one) => (one.kind === 'impossible' ? [] : one.writes))
}

function creation(change: Change, present: Present): RealChange {
  const target = targetOf(change)
  const kind = present.kindOf(target)
  if (!kind || !change.apply) return { kind: 'impossible', target, why: 'unknownKind' }
  const writes: Write[] = []
  for (const { apply } of present.copiesOf(change) ?? []) {
    const object = apply as unknown as KubeObject
    const of = { apiVersion: object.apiVersion ?? '', kind: object.kind ?? '', name: object.metadata.name }
    const kind = present.kindOf(of)
    if (!kind) return { kind: 'impossible', target: of, why: 'unknownKind' }
    writes.push({ op: 'create', of: { kind, namespace: object.metadata.namespace, name: of.name }, object })
  }
  if (writes.length) return { kind: 'create', target, writes }
  // The same names as the engine's: NAME-1, NAME-2, those that do not exist yet.
  for (let n = 1; writes.length < (change.count ?? 1); n++) {
    const name = `${target.name}-${n}`
    if (present.objectOf({ ...target, name })) continue
    writes.push({
      op: 'create',
      of: { kind, namespace: target.namespace, name },
      object: cloneOf(change.apply as unknown as KubeObject, name),
    })
  }
  return { kind: 'create', target, writes }
}

function changeOf(target: ChangeTarget, changes: readonly Change[], present: Present): RealChange | undefined {
  const kind = present.kindOf(target)
  if (!kind) return { kind: 'impossible', target, why: 'unknownKind' }
  const of: ObjectRef = {
    kind,
    namespace: kind.namespaced ? (target.namespace ?? 'default') : undefined,
    name: target.name,
  }
  const now = present.objectOf(target)
  const own = changes.filter((change) => !makesCopies(change))
  if (!now && own.some(({ patch, delete: gone }) => same(patch && targetOf({ patch }), target) || same(gone, target)))
    return { kind: 'impossible', target, why: 'gone' }
  const then = objectThen({ changes: own }, target, now)
  if (!then)
    return (
      now && {
        kind: 'delete',
        target,
        writes: [{ op: 'delete', of, ...(now.metadata.uid ? { uid: now.metadata.uid } : {}) }],
      }
    )
  const whole = { ...then, apiVersion: target.apiVersion, kind: target.kind }
  if (!now) return { kind: 'create', target, writes: [{ op: 'create', of, object: whole }] }
  const again = own.some((change) => change.delete && same(targetOf(change), target))
  if (own.some(({ patch }) => patch?.subresource === 'resize' && same(targetOf({ patch }), target)))
    return {
      kind: 'change',
      target,
      writes: mergesBetween(of, now, then).map((write) =>
        write.op === 'merge' ? { ...write, subresource: 'resize' as const } : write
      ),
    }
  if (isResource(kind, podKind) && (again || !changesInPlace(now, then)))
    return podChange(target, of, { ...now, apiVersion: 'v1', kind: 'Pod' }, whole, present)
  if (again) return { kind: 'recreate', target, writes: [{ op: 'recreate', of, object: withoutServerMetadata(whole) }] }
  const writes = mergesBetween(of, now, then)
  return writes.length ? { kind: 'change', target, writes } : undefined
}

/**
 * A merge patch of the object and one of its status, which has a request of its own. They fail if
 * another client has changed the fields since.
 */
function mergesBetween(of: ObjectRef, now: KubeObject, then: KubeObject): Write[] {
  const patch = withoutEmpty(patchBetween(changeable(now), changeable(then)))
  const status = patchBetween({ status: now.status }, { status: then.status })
  return [
    ...(Object.keys(patch).length ? [{ op: 'merge' as const, of, patch, expect: valuesOf(now, patch) }] : []),
    ...(Object.keys(status).length
      ? [{ op: 'merge' as const, of, patch: status, expect: valuesOf(now, status), subresource: 'status' as const }]
      : []),
  ]
}

/** changeable writes absent metadata as undefined, of which a patch would be empty. */
function withoutEmpty(patch: Fields): Fields {
  return Object.fromEntries(
    Object.entries(patch).filter(
      ([, value]) =>
        typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length > 0
    )
  )
}

/** What the API server lets an existing pod change: its metadata, further tolerations, gates that go. */
function changesInPlace(now: KubeObject, then: KubeObject): boolean {
  const changing = ['tolerations', 'schedulingGates']
  if (!same(without(now.spec as object, changing), without(then.spec as object, changing))) return false
  const items = (object: KubeObject, field: string) =>
    (object.spec as Record<string, unknown[] | undefined>)[field] ?? []
  const all = (some: unknown[], among: unknown[]) => some.every((item) => among.some((other) => same(item, other)))
  return (
    all(items(now, 'tolerations'), items(then, 'tolerations')) &&
    all(items(then, 'schedulingGates'), items(now, 'schedulingGates'))
  )
}

/**
 * A pod's spec cannot change: a pod of its own is created again, and for others their workload's
 * template changes.
 */
function podChange(
  target: ChangeTarget,
  of: ObjectRef,
  now: KubeObject,
  then: KubeObject,
  present: Present
): RealChange {
  if (!isManaged(now))
    return { kind: 'recreate', target, writes: [{ op: 'recreate', of, object: cloneOf(then, of.name) }] }
  const made = present.workloadOf(now)
  const template = made && (made.object.spec as { template?: KubeObject } | undefined)?.template
  if (!template || made.kind.kind === 'Job') return { kind: 'impossible', target, why: 'fixedTemplate' }
  const workload: ObjectRef = {
    kind: made.kind,
    namespace: made.object.metadata.namespace,
    name: made.object.metadata.name,
  }
  const [before, after] = [cloneOf(now, of.name), cloneOf(then, of.name)]
  const spec = mergeChanges(headless(before), headless(after), headless(template)).object.spec
  const patch = { spec: { template: patchBetween({ spec: template.spec }, { spec }) } }
  // A rolling update replaces the pods of these; others only make their next pod from it.
  const replaces = !['Deployment', 'DaemonSet'].includes(made.kind.kind)
  return {
    kind: 'template',
    target,
    workload,
    replaces,
    writes: [
      { op: 'merge', of: workload, patch, expect: valuesOf(made.object, patch) },
      ...(replaces ? [{ op: 'delete' as const, of, ...(now.metadata.uid ? { uid: now.metadata.uid } : {}) }] : []),
    ],
  }
}

/** Only the spec, as an object that mergeChanges takes. */
const headless = ({ spec }: KubeObject): KubeObject => ({ metadata: { name: '' }, spec })
