// The question that a text asks while it is typed: where would its pod go, with everything
// else in the text?

import type { Change, HypotheticalCycle, KubeObject, WhatIfQuestion } from '@/api/types'
import type { Entry } from '@/features/yaml/model/documents'
import { same } from '@/kubernetes/merge'
import { itemsOf } from './batch'
import { withoutServerMetadata } from '@/kubernetes/object'

/** Kinds besides pods that a prediction takes along. Others mean nothing to where a pod goes. */
const kinds = new Set([
  'Node',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'StorageClass',
  'CSINode',
  'CSIDriver',
  'CSIStorageCapacity',
  'PriorityClass',
  'Namespace',
  'PodDisruptionBudget',
  'ResourceSlice',
  'DeviceClass',
  'ResourceClaim',
])

const workloads = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'Job', 'ReplicationController'])

/** The server answers more, but typing must not wait for them. */
export const mostCopies = 100
const mostChanges = 200

export interface TextQuestion {
  pod: KubeObject
  entry: Entry
  /** Of the copies that are asked about, in order. */
  names: readonly string[]
  /** Copies that are not asked about. */
  moreCopies: number
  /** Pods of other documents, which the prediction leaves out. */
  otherPods: number
  question: Pick<WhatIfQuestion, 'pod' | 'changes' | 'copies'>
}

/** undefined for a text without a pod. Entries contain the copies. */
export function questionOfText(entries: readonly Entry[]): TextQuestion | undefined {
  const pods = entries.filter((e) => e.kind === 'Pod' && e.apiVersion === 'v1' && !isPlaced(e.object))
  const [first] = pods
  const entry = first ?? entries.find((e) => workloads.has(e.kind) && templateOf(e.object))
  if (!entry) return undefined
  const pod = first ? withoutServerMetadata(first.object) : podOf(entry)
  const mine = first ? pods.filter((e) => e.line === first.line && e.file === first.file) : []
  // Copies that differ in more than their names cannot be asked about at once.
  const alike =
    first && mine.every((e) => same(e.object.spec, first.object.spec)) ? mine.map((e) => e.name) : [entry.name]
  const replicas = first ? alike : numbered(entry)
  const names = replicas.slice(0, mostCopies)
  const changes = changesOf(entries)
  return {
    pod,
    entry,
    names,
    moreCopies: (first ? mine.length : replicas.length) - names.length,
    otherPods: pods.length - mine.length,
    question: {
      pod: pod as unknown as NonNullable<WhatIfQuestion['pod']>,
      ...(changes.length ? { changes } : {}),
      ...(names.length > 1 ? { copies: names.length } : {}),
    },
  }
}

const isPlaced = (pod: KubeObject) => !!(pod.spec as { nodeName?: string } | undefined)?.nodeName
const templateOf = (object: KubeObject) =>
  (object.spec as { template?: { metadata?: object; spec?: unknown } } | undefined)?.template

/** The pod that a workload would make first. */
function podOf({ object, name, namespace }: Entry): KubeObject {
  const template = templateOf(object)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template?.metadata, name, ...(namespace ? { namespace } : {}) },
    spec: template?.spec,
  } as KubeObject
}

function numbered({ object, name, kind }: Entry): string[] {
  const { replicas = 1, parallelism = 1 } = (object.spec ?? {}) as { replicas?: number; parallelism?: number }
  const count = Number(kind === 'Job' ? parallelism : replicas)
  return Array.from({ length: Number.isInteger(count) && count > 0 ? count : 1 }, (_, i) =>
    count > 1 ? `${name}-${i + 1}` : name
  )
}

/** What else the text creates, in the order in which it would be created. */
function changesOf(entries: readonly Entry[]): Change[] {
  const wanted = entries.filter(
    (e) => e.object.metadata.name && (kinds.has(e.kind) || (e.kind === 'Pod' && isPlaced(e.object)))
  )
  return itemsOf(wanted.slice(0, mostChanges)).map(({ entry }) => ({
    apply: withoutServerMetadata(entry.object) as unknown as NonNullable<Change['apply']>,
  }))
}

// The answer.

export interface Prediction extends TextQuestion {
  /** One for each copy, in order; they end with the first that finds no node. */
  cycles: readonly HypotheticalCycle[]
  /** When it was asked (ms since the epoch). */
  at: number
}

/** How many copies go to each node, most first, then in the order of the copies. */
export function placesOf(cycles: readonly HypotheticalCycle[]): { node: string; copies: number[] }[] {
  const places = new Map<string, number[]>()
  cycles.forEach(({ selectedNode }, i) => {
    if (selectedNode) places.set(selectedNode, [...(places.get(selectedNode) ?? []), i])
  })
  return [...places]
    .map(([node, copies]) => ({ node, copies }))
    .sort((a, b) => b.copies.length - a.copies.length || (a.copies[0] ?? 0) - (b.copies[0] ?? 0))
}

/** The number of copies that find a node; preemption does not count. */
export function placedOf(cycles: readonly HypotheticalCycle[]): number {
  return cycles.filter((cycle) => cycle.selectedNode).length
}
