// Makes new objects from existing ones: clones and numbered copies.

import type { KubeObject } from '@/api/types'
import type { Entry } from '@/features/yaml/model/documents'
import { withoutServerMetadata } from '@/kubernetes/object'

/**
 * Annotations about the history of the original, other than those that say what a virtual node has
 * and what a pod does.
 */
const ownAnnotations =
  /^(kube-scheduler-simulator\.sigs\.k8s\.io\/(?!(?:devices|numa|run-duration|exit-code|startup-duration|shutdown-duration)$)|kubectl\.kubernetes\.io\/last-applied-configuration$|deployment\.kubernetes\.io\/revision$|pv\.kubernetes\.io\/|kwok\.x-k8s\.io\/)/

/**
 * A new object like this one, without the ties to its past: identity, owner, node, status
 * and injected volumes. A node keeps its capacity, which defines it.
 */
export function cloneOf(object: KubeObject, name: string): KubeObject {
  const made = structuredClone(withoutServerMetadata(object))
  const metadata = made.metadata as unknown as Record<string, unknown>
  metadata.name = name
  delete metadata.generateName
  delete metadata.ownerReferences
  delete metadata.finalizers
  const annotations = Object.fromEntries(
    Object.entries(object.metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.test(key))
  )
  if (Object.keys(annotations).length) metadata.annotations = annotations
  else delete metadata.annotations
  renameIn(made, object.metadata.name, name)
  if (object.kind === 'Node') keepCapacity(made)
  else delete made.status
  const spec = made.spec as Record<string, unknown> | undefined
  if (object.kind === 'Pod' && spec) cleanPod(spec)
  if (object.kind === 'Node' && spec) {
    delete spec.podCIDR
    delete spec.podCIDRs
    if (Array.isArray(spec.taints))
      spec.taints = spec.taints.filter((t: { key?: string }) => !t.key?.startsWith('node.kubernetes.io/'))
    if (Array.isArray(spec.taints) && !spec.taints.length) delete spec.taints
    if (!Object.keys(spec).length) delete made.spec
  }
  if (object.kind === 'PersistentVolume' && spec) delete spec.claimRef
  if (object.kind === 'PersistentVolumeClaim' && spec) delete spec.volumeName
  if (object.kind === 'Job' && spec) cleanJob(made, spec)
  if (object.kind === 'Service' && spec)
    for (const field of ['clusterIP', 'clusterIPs']) Reflect.deleteProperty(spec, field)
  return made
}

function keepCapacity(node: KubeObject): void {
  const { capacity, allocatable } = (node.status ?? {}) as Record<string, unknown>
  if (capacity || allocatable)
    node.status = {
      ...(capacity ? { capacity } : {}),
      ...(allocatable ? { allocatable } : {}),
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    }
  else delete node.status
}

interface Named {
  name?: string
}

/** Admission added these and will add them again. */
function cleanPod(spec: Record<string, unknown>): void {
  for (const field of ['nodeName', 'priority', 'preemptionPolicy', 'enableServiceLinks', 'serviceAccount'])
    Reflect.deleteProperty(spec, field)
  if (spec.serviceAccountName === 'default') delete spec.serviceAccountName
  const injected = (name: string | undefined) => name?.startsWith('kube-api-access-') ?? false
  const without = (
    holder: Record<string, unknown>,
    field: string,
    gone: (item: Named & { key?: string; effect?: string; tolerationSeconds?: number }) => boolean
  ) => {
    if (!Array.isArray(holder[field])) return
    const rest = (holder[field] as Named[]).filter((item) => !gone(item))
    if (rest.length) holder[field] = rest
    else Reflect.deleteProperty(holder, field)
  }
  without(spec, 'volumes', (v) => injected(v.name))
  without(
    spec,
    'tolerations',
    (t) => t.effect === 'NoExecute' && t.tolerationSeconds === 300 && !!t.key?.startsWith('node.kubernetes.io/')
  )
  for (const field of ['containers', 'initContainers']) {
    for (const container of (spec[field] as Record<string, unknown>[] | undefined) ?? [])
      without(container, 'volumeMounts', (m) => injected(m.name))
  }
}

/** A job's selector and labels derive from its uid. */
function cleanJob(job: KubeObject, spec: Record<string, unknown>): void {
  if (spec.manualSelector) return
  delete spec.selector
  const template = spec.template as { metadata?: { labels?: Record<string, string> } } | undefined
  for (const labels of [job.metadata.labels, template?.metadata?.labels]) {
    for (const key of [
      'controller-uid',
      'job-name',
      'batch.kubernetes.io/controller-uid',
      'batch.kubernetes.io/job-name',
    ])
      if (labels) Reflect.deleteProperty(labels, key)
  }
}

/** Replaces every label or selector value that equals the old name, such as kubernetes.io/hostname. */
function renameIn(object: KubeObject, old: string, name: string): void {
  const labels = object.metadata.labels
  for (const [key, value] of Object.entries(labels ?? {})) if (labels && value === old) labels[key] = name
}

/** A free name like this one: increments its number, or appends one. */
export function nextName(name: string, taken: (name: string) => boolean): string {
  const { stem, number } = numbered(name)
  for (let n = number ?? 1; ; n++) {
    const next = `${stem}${n}`
    if (next !== name && !taken(next)) return next
  }
}

function numbered(name: string): { stem: string; number: number | undefined } {
  const match = /^(.*[^0-9])(\d{1,9})$/.exec(name)
  return match ? { stem: match[1] ?? '', number: Number(match[2]) } : { stem: `${name}-`, number: undefined }
}

/** The placeholder for the number of a copy. */
const copyMark = '{n}'

export interface Copies {
  /** The entries to create, with copies in place of the copied documents. */
  entries: Entry[]
  /** Names of the first and the last copy of the first copied document; undefined when none is copied. */
  names: { first: string; last: string } | undefined
  /** There are several documents, and none contains the placeholder. */
  unclear: boolean
}

/**
 * Copies documents. Documents with {n} get the number in its place. A single document
 * without it gets numbered names, which continue a number at the end of its name. Names
 * that are in use are skipped.
 */
export function copiesOf(
  entries: readonly Entry[],
  count: number,
  taken: (entry: Entry, name: string) => boolean = () => false
): Copies {
  const marked = entries.filter((e) => JSON.stringify(e.object).includes(copyMark))
  if (!marked.length && count <= 1) return { entries: [...entries], names: undefined, unclear: false }
  if (!marked.length && entries.length > 1) return { entries: [...entries], names: undefined, unclear: true }
  const copied = new Set(marked.length ? marked : entries)
  const out: Entry[] = []
  let names: Copies['names']
  for (const entry of entries) {
    if (!copied.has(entry)) {
      out.push({ ...entry, index: out.length })
      continue
    }
    const own = copyEntry(entry, count, taken)
    names ??= { first: own[0]?.name ?? '', last: own.at(-1)?.name ?? '' }
    for (const copy of own) out.push({ ...copy, index: out.length })
  }
  return { entries: out, names, unclear: false }
}

function copyEntry(entry: Entry, count: number, taken: (entry: Entry, name: string) => boolean): Entry[] {
  const isMarked = JSON.stringify(entry.object).includes(copyMark)
  const generated = !entry.object.metadata.name
  const { stem, number } = numbered(entry.name)
  const out: Entry[] = []
  for (let n = isMarked ? 1 : (number ?? 1); out.length < count; n++) {
    const name = isMarked ? entry.name.replaceAll(copyMark, String(n)) : generated ? entry.name : `${stem}${n}`
    if (!generated && (!isMarked || entry.name.includes(copyMark)) && taken(entry, name)) continue
    const object = mapStrings(entry.object, (text) =>
      isMarked ? text.replaceAll(copyMark, String(n)) : text === entry.object.metadata.name ? name : text
    ) as KubeObject
    out.push({
      ...entry,
      object,
      name,
      namespace: object.metadata.namespace,
      ...(out.length ? { copy: out.length } : {}),
    })
  }
  return out
}

/** A copy of value with `change` applied to every string, including map keys. */
function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.includes(copyMark) ? change(key) : key, mapStrings(item, change)])
  )
}
