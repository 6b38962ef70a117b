// What a change of an object amounts to, as data for a few words and for a difference.

import type { Change, ChangeTarget, KubeObject, Taint } from '@/api/types'
import { same } from '@/kubernetes/merge'
import { fieldsBetween, type FieldChange } from '@/kubernetes/patch'
import { editable } from './editing'
import { makesCopies, objectThen, targetOf, type Hypothesis } from './hypothesis'

export type Gist =
  | { kind: 'copies'; count: number }
  | { kind: 'added' }
  | { kind: 'deleted' }
  | { kind: 'cordoned' }
  | { kind: 'uncordoned' }
  | { kind: 'tainted' | 'untainted'; taint: string }
  | { kind: 'label'; key: string; from: string; to: string }
  /** A resource, or the last part of a field's path. */
  | { kind: 'value'; name: string; from: string; to: string }
  | { kind: 'field'; path: string }
  | { kind: 'fields'; count: number }
  | { kind: 'nothing' }

export interface ChangedObject {
  target: ChangeTarget
  changes: readonly Change[]
  gist: Gist
  fields: readonly FieldChange[]
  before: KubeObject | undefined
  after: KubeObject | undefined
}

/** The objects that a hypothesis touches, in order, each once. objectOf is an object as it is now. */
export function changedObjects(
  { changes }: Pick<Hypothesis, 'changes'>,
  objectOf: (target: ChangeTarget) => KubeObject | undefined
): ChangedObject[] {
  const out: { target: ChangeTarget; changes: Change[] }[] = []
  for (const change of changes) {
    const target = targetOf(change)
    const known = makesCopies(change)
      ? undefined
      : out.find((one) => !one.changes.some(makesCopies) && same(one.target, target))
    if (known) known.changes.push(change)
    else out.push({ target, changes: [change] })
  }
  return out.map(({ target, changes: own }) => changedObject(target, own, objectOf(target)))
}

function changedObject(target: ChangeTarget, changes: Change[], now: KubeObject | undefined): ChangedObject {
  const [first] = changes
  if (first && makesCopies(first))
    return {
      target,
      changes,
      gist: { kind: 'copies', count: first.count ?? 1 },
      fields: [],
      before: undefined,
      after: first.apply as unknown as KubeObject,
    }
  const after = objectThen({ changes }, target, now)
  const fields = now && after ? fieldsBetween(editable(now), editable(after)) : []
  return { target, changes, gist: gistOf(now, after, fields), fields, before: now, after }
}

/**
 * A change of a list, reduced to the items that only one side has; undefined if a side is no list,
 * or only the order changes.
 */
export function changedItems({
  from,
  to,
}: FieldChange): { gone: readonly unknown[]; come: readonly unknown[] } | undefined {
  if (!Array.isArray(from) || !Array.isArray(to)) return undefined
  const come: unknown[] = [...(to as unknown[])]
  const gone = (from as unknown[]).filter((item) => {
    const at = come.findIndex((other) => same(item, other))
    if (at >= 0) come.splice(at, 1)
    return at < 0
  })
  return gone.length + come.length ? { gone, come } : undefined
}

function gistOf(before: KubeObject | undefined, after: KubeObject | undefined, fields: readonly FieldChange[]): Gist {
  if (!after) return { kind: before ? 'deleted' : 'nothing' }
  if (!before) return { kind: 'added' }
  const [only, ...others] = fields
  if (!only) return { kind: 'nothing' }
  if (others.length) return { kind: 'fields', count: fields.length }
  if (only.path === 'spec.unschedulable') return { kind: only.to ? 'cordoned' : 'uncordoned' }
  if (only.path === 'spec.taints') return taintGist(only) ?? { kind: 'field', path: only.path }
  const label = /^metadata\.labels(?:\.(.+)|\[(.+)\])$/.exec(only.path)
  if (label)
    return { kind: 'label', key: label[1] ?? label[2] ?? '', from: scalar(only.from) ?? '', to: scalar(only.to) ?? '' }
  const [from, to] = [scalar(only.from), scalar(only.to)]
  if (from === undefined && to === undefined) return { kind: 'field', path: only.path }
  return { kind: 'value', name: lastPart(only.path), from: from ?? '', to: to ?? '' }
}

function taintGist({ from, to }: FieldChange): Gist | undefined {
  const [had, has] = [taints(from), taints(to)]
  const gone = had.filter((taint) => !has.includes(taint))
  const come = has.filter((taint) => !had.includes(taint))
  if (gone.length + come.length !== 1) return undefined
  return gone[0] ? { kind: 'untainted', taint: gone[0] } : { kind: 'tainted', taint: come[0] ?? '' }
}

const taints = (value: unknown) =>
  Array.isArray(value)
    ? (value as Taint[]).map(({ key, value: text, effect }) => `${key}${text ? `=${text}` : ''}:${effect}`)
    : []

/** undefined for a field that is no single value. */
function scalar(value: unknown): string | undefined {
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value)
}

/** cpu of spec.containers[0].resources.requests.cpu, or example.com/gpu of …requests[example.com/gpu]. */
function lastPart(path: string): string {
  return (
    /\[([^\]]*\D[^\]]*)\]$/.exec(path)?.[1] ??
    path
      .split('.')
      .at(-1)
      ?.replace(/\[\d+\]$/, '') ??
    path
  )
}
