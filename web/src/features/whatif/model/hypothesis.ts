// A hypothesis: what the user supposes to be different. It is data, and nothing that only
// asks can write; see features/fit for the way from a hypothesis to real changes.

import { isRecord } from '@/api/http'
import type { Change, ChangeTarget, KubeObject, PodRef, WhatIfQuestion } from '@/api/types'
import { same } from '@/kubernetes/merge'
import { applyPatch, patchFromTo } from '@/kubernetes/patch'
import { editable } from './editing'

export interface Hypothesis {
  readonly changes: readonly Change[]
  /** Another KubeSchedulerConfiguration, as YAML. */
  readonly configuration?: string
  /** The profile that decides, in place of the one that the pod names. */
  readonly profile?: string
  /** The minor version of Kubernetes whose scheduler decides, such as 1.35, in place of the one that runs. */
  readonly kubernetesVersion?: string
  /** The pod as YAML, if it is not one of the cluster. */
  readonly pod?: string
}

export const noHypothesis: Hypothesis = { changes: [] }

/** What a hypothesis can put in place of the scheduler that runs. */
export const deciders = ['configuration', 'profile', 'kubernetesVersion'] as const
export type Decider = Pick<Hypothesis, (typeof deciders)[number]>

export function deciderOf(hypothesis: Decider): Decider {
  return Object.fromEntries(deciders.flatMap((field) => (hypothesis[field] ? [[field, hypothesis[field]]] : [])))
}

export const isEmpty = (hypothesis: Hypothesis) => sizeOf(hypothesis) === 0

export function sizeOf(hypothesis: Hypothesis): number {
  return hypothesis.changes.length + Object.keys(deciderOf(hypothesis)).length
}

/** The cluster can be changed so; the profile and the version of Kubernetes stay as they are. */
export const isRealizable = ({ changes, configuration }: Hypothesis) =>
  changes.length > 0 || configuration !== undefined

/** More changes than this are refused; the server has a bound of its own. */
const mostChanges = 100

/** Reads a hypothesis that another user wrote; undefined if it is none. */
export function readHypothesis(value: unknown): Hypothesis | undefined {
  if (!isRecord(value) || !Array.isArray(value.changes) || value.changes.length > mostChanges) return undefined
  if (!value.changes.every(isChange)) return undefined
  const texts: { -readonly [field in keyof Decider | 'pod']?: string } = {}
  for (const field of [...deciders, 'pod'] as const) {
    const text = value[field]
    if (text === undefined) continue
    if (typeof text !== 'string') return undefined
    texts[field] = text
  }
  return { changes: value.changes, ...texts }
}

function isChange(value: unknown): value is Change {
  if (!isRecord(value)) return false
  const { apply, patch, delete: gone, count } = value
  if ([apply, patch, gone].filter((part) => part !== undefined).length !== 1) return false
  if (count !== undefined && !(Number.isInteger(count) && Number(count) > 0)) return false
  if (apply !== undefined) return isRecord(apply) && isNamed(apply, apply.metadata)
  return (
    isRecord(patch ?? gone) &&
    isNamed(patch ?? gone, patch ?? gone) &&
    (patch === undefined || isRecord((patch as Record<string, unknown>).patch))
  )
}

function isNamed(head: unknown, names: unknown): boolean {
  return (
    isRecord(head) &&
    typeof head.apiVersion === 'string' &&
    typeof head.kind === 'string' &&
    isRecord(names) &&
    typeof names.name === 'string'
  )
}

/** The question about a pod of the cluster; without one, about the hypothesis' own pod. */
export function questionOf(
  { pod, changes, ...rest }: Hypothesis,
  podRef: Pick<PodRef, 'namespace' | 'name'> | undefined
): Pick<WhatIfQuestion, 'pod' | 'podRef' | 'changes' | keyof Decider> {
  return {
    ...(pod !== undefined ? { pod } : podRef ? { podRef: { namespace: podRef.namespace, name: podRef.name } } : {}),
    ...(changes.length ? { changes: [...changes] } : {}),
    ...deciderOf(rest),
  }
}

// Changes.

export function targetOf({ apply, patch, delete: gone }: Change): ChangeTarget {
  if (!apply) {
    const { apiVersion, kind, namespace, name } = (patch ?? gone) as ChangeTarget
    return { apiVersion, kind, ...(namespace ? { namespace } : {}), name }
  }
  const { namespace, name } = apply.metadata as { namespace?: string; name: string }
  return { apiVersion: apply.apiVersion, kind: apply.kind, ...(namespace ? { namespace } : {}), name }
}

export function isSameTarget(a: ChangeTarget, b: ChangeTarget): boolean {
  return (
    a.kind === b.kind && groupOf(a) === groupOf(b) && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '')
  )
}

const groupOf = ({ apiVersion }: ChangeTarget) => (apiVersion.includes('/') ? apiVersion.split('/')[0] : '')

/** Several new objects come from one change, so it changes none that exists. */
export const makesCopies = ({ apply, count }: Change) => !!apply && count !== undefined

/** The changes without `removed`, and then `added`. */
export function replaced(
  { changes, ...rest }: Hypothesis,
  removed: readonly Change[],
  added: readonly Change[]
): Hypothesis {
  return { ...rest, changes: [...changes.filter((change) => !removed.some((other) => same(other, change))), ...added] }
}

/** The hypothesis under another configuration, profile and version; undefined for those in force. */
export function withDecider({ changes, pod }: Hypothesis, decider: Decider): Hypothesis {
  return { changes, ...deciderOf(decider), ...(pod === undefined ? {} : { pod }) }
}

export const includes = ({ changes }: Hypothesis, wanted: readonly Change[]) =>
  wanted.length > 0 && wanted.every((one) => changes.some((change) => same(one, change)))

/** An object with the hypothesis' changes to it; undefined if it does not exist then. */
export function objectThen(
  { changes }: Pick<Hypothesis, 'changes'>,
  target: ChangeTarget,
  now: KubeObject | undefined
): KubeObject | undefined {
  let object = now
  for (const change of changes) {
    if (makesCopies(change) || !isSameTarget(targetOf(change), target)) continue
    if (change.delete) object = undefined
    else if (change.apply) object = applyPatch(object ?? {}, change.apply) as KubeObject
    else if (object && change.patch) object = applyPatch(object, change.patch.patch) as KubeObject
  }
  return object
}

/**
 * The hypothesis in which `then` is what became of an object; its earlier changes to the object are
 * dropped.
 */
export function withObject(
  hypothesis: Hypothesis,
  target: ChangeTarget,
  now: KubeObject | undefined,
  then: KubeObject | undefined
): Hypothesis {
  const others = hypothesis.changes.filter((change) => makesCopies(change) || !isSameTarget(targetOf(change), target))
  return { ...hypothesis, changes: [...others, ...changesBetween(target, now, then)] }
}

function changesBetween(target: ChangeTarget, now: KubeObject | undefined, then: KubeObject | undefined): Change[] {
  if (!then) return now ? [{ delete: target }] : []
  const apply = (): Change => ({
    apply: { ...editable({ ...then, apiVersion: target.apiVersion, kind: target.kind }) } as unknown as Change['apply'],
  })
  if (!now) return [apply()]
  const patch = patchFromTo(now, then)
  if (!Object.keys(patch).length) return []
  // The API server changes hardly anything of an existing pod, and judges a new one as a whole.
  return target.kind === 'Pod' && !same(now.spec, then.spec)
    ? [{ delete: target }, apply()]
    : [{ patch: { ...target, patch } }]
}

/** The objects that the hypothesis changes or deletes, each once, in order. */
export function targetsOf({ changes }: Pick<Hypothesis, 'changes'>): ChangeTarget[] {
  const out: ChangeTarget[] = []
  for (const change of changes) {
    const target = targetOf(change)
    if (!makesCopies(change) && !out.some((other) => isSameTarget(other, target))) out.push(target)
  }
  return out
}
