// What a user can do to an object, and the writes that do it.

import type { KindInfo, KubeObject, Node, Pod, Taint } from '@/api/types'
import { cloneOf } from '@/features/create/model/clone'
import { isResource, nodeKind, podKind } from '@/kubernetes/kinds'
import type { ObjectRef } from '@/kubernetes/object'
import { canRestart, canScale, restartedAt } from '@/kubernetes/workloads'
import { failureAnnotation, failureOf, type NodeFailure } from './failure'
import { isManaged, type TaintKey, type Write } from './write'

/** The changes that show their dry run and can be undone, in the order of the menus. */
export const verbs = [
  'scale',
  'restart',
  'taint',
  'label',
  'cordon',
  'uncordon',
  'notReady',
  'unreachable',
  'recover',
  'ungate',
  'evict',
  'recreate',
  'delete',
] as const
export type Verb = (typeof verbs)[number]

/** What the user enters; each verb reads its own part. */
export interface Input {
  addTaints: readonly Taint[]
  removeTaints: readonly TaintKey[]
  /** The label's new value by key; null removes the label. */
  labels: Readonly<Record<string, string | null>>
  replicas: number | undefined
  gates: readonly string[]
}
export const noInput: Input = { addTaints: [], removeTaints: [], labels: {}, replicas: undefined, gates: [] }

const failures: Partial<Record<Verb, NodeFailure>> = { notReady: 'not-ready', unreachable: 'unreachable' }
const isNode = (kind: KindInfo) => isResource(kind, nodeKind)

/** Whether a verb makes sense for an object. Without the object, its kind decides. */
export function applies(verb: Verb, { kind }: ObjectRef, object: KubeObject | undefined): boolean {
  const node = object as Node | undefined
  switch (verb) {
    case 'scale':
      return canScale(kind)
    case 'restart':
      return canRestart(kind)
    case 'recreate':
      return isResource(kind, podKind)
    case 'evict':
      return isResource(kind, podKind) && !!(object as Pod | undefined)?.spec?.nodeName
    case 'delete':
    case 'label':
      return true
    case 'cordon':
      return isNode(kind) && !node?.spec?.unschedulable
    case 'uncordon':
      return isNode(kind) && (!node || !!node.spec?.unschedulable)
    case 'taint':
      return isNode(kind)
    case 'ungate':
      return isResource(kind, podKind) && !!(object as Pod | undefined)?.spec?.schedulingGates?.length
    case 'recover':
      return isNode(kind) && !!failureOf(node)
    default:
      return isNode(kind) && failureOf(node) !== failures[verb]
  }
}

/** The objects as they are, and the time (RFC 3339), for the verbs that need them. */
export interface Around {
  objectOf: (of: ObjectRef) => KubeObject | undefined
  now: string
}

/** The writes of a verb; none when the input changes nothing. */
export function writesOf(verb: Verb, refs: readonly ObjectRef[], input: Input, { objectOf, now }: Around): Write[] {
  const merge = (patch: Record<string, unknown>) => refs.map((of): Write => ({ op: 'merge', of, patch }))
  switch (verb) {
    case 'taint':
      return input.addTaints.length || input.removeTaints.length
        ? refs.map((of) => ({ op: 'taints', of, add: input.addTaints, remove: input.removeTaints }))
        : []
    case 'label':
      return Object.keys(input.labels).length ? merge({ metadata: { labels: { ...input.labels } } }) : []
    case 'cordon':
      return merge({ spec: { unschedulable: true } })
    case 'uncordon':
      return merge({ spec: { unschedulable: null } })
    case 'scale':
      return input.replicas === undefined ? [] : merge({ spec: { replicas: input.replicas } })
    case 'restart':
      return merge({ spec: { template: { metadata: { annotations: { [restartedAt]: now } } } } })
    case 'notReady':
    case 'unreachable':
    case 'recover':
      return merge({ metadata: { annotations: { [failureAnnotation]: failures[verb] ?? null } } })
    case 'ungate':
      return refs.map((of) => {
        const left = gatesOf(objectOf(of)).filter(({ name }) => !input.gates.includes(name))
        return { op: 'merge', of, patch: { spec: { schedulingGates: left.length ? left : null } } }
      })
    case 'evict':
      return refs.map((of) => ({ op: 'evict', of, at: now }))
    case 'recreate':
      return refs.flatMap((of) => {
        const object = objectOf(of)
        return object ? [recreation(of, object)] : []
      })
    default:
      return refs.map((of) => ({ op: 'delete', of }))
  }
}

/** A controller creates the replacement itself, so its pod is only deleted. */
function recreation(of: ObjectRef, object: KubeObject): Write {
  if (isManaged(object)) return { op: 'delete', of }
  return { op: 'recreate', of, object: cloneOf({ kind: of.kind.kind, ...object }, of.name) }
}

const gatesOf = (object: KubeObject | undefined) => (object as Pod | undefined)?.spec?.schedulingGates ?? []

/**
 * A restart back would replace the pods a second time, the API server adds no gate to an existing
 * pod, and an evicted pod would be evicted again.
 */
export function isUndoable(verb: Verb): boolean {
  return verb !== 'restart' && verb !== 'recreate' && verb !== 'ungate' && verb !== 'evict'
}

const taintText = /^([^\s=:]+)(?:=([^\s=:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)(-?)$/

/** Parses a taint as `kubectl taint` takes it: key=value:Effect, or key:Effect- to remove it. */
export function parseTaint(text: string): { add: Taint } | { remove: TaintKey } | undefined {
  const match = taintText.exec(text.trim())
  if (!match) return undefined
  const [, key = '', value, effect = '', minus] = match
  return minus ? { remove: { key, effect } } : { add: { key, ...(value ? { value } : {}), effect } }
}

export function formatTaint({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ''}:${effect}`
}

const labelText = /^([^\s=]+)(?:=(\S*)|-)$/

/** Parses a label as `kubectl label` takes it: key=value, or key- to remove it. */
export function parseLabel(text: string): { key: string; value: string | null } | undefined {
  const match = labelText.exec(text.trim())
  return match?.[1] ? { key: match[1], value: match[2] ?? null } : undefined
}
