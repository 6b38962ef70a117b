// The difference between two moments as a list: pods by owner, nodes, and objects of other kinds.

import type { TimelineDifference, TimelineObject } from '@/api/timeline'
import type { Pod } from '@/api/types'
import type { MapChange } from '@/features/cluster/model/change'
import { compareNames, type ClusterView } from '@/kubernetes/cluster'
import { objectKey } from '@/kubernetes/object'
import { isFinished, isPending, ownerOf } from '@/kubernetes/pods'

export interface PodGroupChange {
  /** The owner's name, or the name of the one pod. */
  name: string
  pods: readonly Pod[]
  /**
   * came: new or newly assigned. moved: from one node to another. gone: deleted or finished. waits:
   * new and without a node.
   */
  kind: 'came' | 'moved' | 'gone' | 'waits'
  /** Where they are now, or were last, with how many of them. */
  nodes: readonly { name: string; count: number }[]
}

const podsOf = (view: ClusterView) =>
  new Map(
    [...view.nodes.flatMap((node) => node.podList), ...view.pending]
      .filter((pod) => !isFinished(pod))
      .map((pod) => [`${objectKey(pod)} ${pod.metadata.uid ?? ''}`, pod])
  )

/** The pods that differ, those of one owner with the same fate in one line. */
export function podChanges(before: ClusterView, after: ClusterView): PodGroupChange[] {
  const [had, has] = [podsOf(before), podsOf(after)]
  const found: { pod: Pod; kind: PodGroupChange['kind'] }[] = []
  for (const [id, pod] of has) {
    const old = had.get(id)
    if (!old) found.push({ pod, kind: isPending(pod) ? 'waits' : 'came' })
    else if (old.spec?.nodeName !== pod.spec?.nodeName) found.push({ pod, kind: old.spec?.nodeName ? 'moved' : 'came' })
  }
  for (const [id, pod] of had) if (!has.has(id)) found.push({ pod, kind: 'gone' })
  const groups = new Map<string, { pod: Pod; kind: PodGroupChange['kind'] }[]>()
  for (const one of found) {
    const key = `${one.kind} ${ownerOf(one.pod)?.key ?? objectKey(one.pod)}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  const order = ['came', 'moved', 'waits', 'gone']
  return [...groups.values()]
    .map((all): PodGroupChange => {
      const [first] = all
      const counts = new Map<string, number>()
      for (const { pod } of all)
        if (pod.spec?.nodeName) counts.set(pod.spec.nodeName, (counts.get(pod.spec.nodeName) ?? 0) + 1)
      const name = all.length > 1 ? first && ownerOf(first.pod)?.name : first?.pod.metadata.name
      return {
        name: name ?? '',
        kind: first?.kind ?? 'came',
        pods: all.map(({ pod }) => pod),
        nodes: [...counts].map(([node, count]) => ({ name: node, count })).sort((a, b) => compareNames(a.name, b.name)),
      }
    })
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || compareNames(a.name, b.name))
}

export interface NamedNodeChange {
  name: string
  kind: 'added' | 'removed' | 'back' | 'lost'
}

/** Nodes that were added, removed or changed apart from their pods. */
export function nodeChanges({ byName }: MapChange): NamedNodeChange[] {
  return [...byName].flatMap(([name, change]): NamedNodeChange[] => {
    if (change.kind === 'added' || change.kind === 'removed') return [{ name, kind: change.kind }]
    return change.ready ? [{ name, kind: change.ready }] : []
  })
}

export interface OtherChange {
  object: TimelineObject
  kind: 'created' | 'deleted' | 'changed'
  /** The fields that changed. */
  paths: readonly string[]
}

/** What the server knows besides pods; nodes only where fields of theirs changed. */
export function otherChanges(difference: TimelineDifference): OtherChange[] {
  const other = ({ kind }: TimelineObject) => kind !== 'Pod' && kind !== 'Node'
  return [
    ...difference.created.filter(other).map((object): OtherChange => ({ object, kind: 'created', paths: [] })),
    ...difference.changed
      .filter(({ object }) => object.kind !== 'Pod')
      .map(({ object, fields }): OtherChange => ({ object, kind: 'changed', paths: fields.map(({ path }) => path) })),
    ...difference.deleted.filter(other).map((object): OtherChange => ({ object, kind: 'deleted', paths: [] })),
  ]
}
