// The entries of the menu of one or several objects of one kind.

import type { KubeObject, Pod } from '@/api/types'
import { isResource, nodeKind, podKind } from '@/kubernetes/kinds'
import type { ObjectRef } from '@/kubernetes/object'
import { ownerOf } from '@/kubernetes/pods'
import { isWorkload, workloadOf } from '@/kubernetes/workloads'
import { boardPlace, decisionsOf, placeOf, podsOf, yamlOf, type Place } from './links'
import { applies, verbs, type Verb } from './verbs'

/** A page about the object. */
export type PageId = 'open' | 'board' | 'decision' | 'yaml' | 'pods' | 'decisions' | 'owner' | 'clone'

export type MenuEntry =
  | { kind: 'page'; id: Exclude<PageId, 'clone'>; place: Place; name: string }
  | { kind: 'clone' }
  | { kind: 'verb'; id: Verb | 'drain' }

/** Several objects have no page of their own, and all verbs that apply to one of them. */
export function menuOf(refs: readonly ObjectRef[], objectOf: (of: ObjectRef) => KubeObject | undefined): MenuEntry[] {
  const [ref, ...others] = refs
  if (!ref) return []
  const can = (verb: Verb) => refs.some((of) => applies(verb, of, objectOf(of)))
  const node = isResource(ref.kind, nodeKind)
  // A gate is removed by its name, and an eviction made early beside its countdown.
  const actions: MenuEntry[] = verbs
    .filter((verb) => verb !== 'ungate' && verb !== 'evict' && can(verb))
    .map((id) => ({ kind: 'verb', id }))
  const beforeDelete = actions.findIndex(
    (entry) => entry.kind === 'verb' && (entry.id === 'recreate' || entry.id === 'delete')
  )
  if (node)
    actions.splice(
      actions.findIndex((entry) => entry.kind === 'verb' && (entry.id === 'notReady' || entry.id === 'unreachable')),
      0,
      { kind: 'verb', id: 'drain' }
    )
  else if (!others.length) actions.splice(beforeDelete, 0, { kind: 'clone' })
  return others.length ? actions : [...pagesOf(ref, objectOf(ref)), ...actions]
}

function pagesOf(ref: ObjectRef, object: KubeObject | undefined): MenuEntry[] {
  const page = (id: Exclude<PageId, 'clone'>, place: Place, name = ref.name): MenuEntry => ({
    kind: 'page',
    id,
    place,
    name,
  })
  if (isResource(ref.kind, podKind)) {
    const owner = object && ownerOf(object as Pod)
    const workload = owner && workloadOf(owner)
    return [
      page('decision', placeOf(ref)),
      page('yaml', yamlOf(ref)),
      ...(workload ? [page('owner', placeOf(workload), `${workload.kind.kind} ${workload.name}`)] : []),
    ]
  }
  if (isResource(ref.kind, nodeKind) || isWorkload(ref.kind))
    return [page('open', placeOf(ref)), page('pods', podsOf(ref)), page('decisions', decisionsOf(ref))]
  const board = boardPlace(ref)
  return [page('open', placeOf(ref)), ...(board ? [page('board', board)] : [])]
}
