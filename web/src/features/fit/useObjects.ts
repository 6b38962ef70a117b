// Objects as the API server has them, for hypotheses about them: nodes and pods are live,
// and others are fetched.

import { shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { ApiError } from '@/api/http'
import type { ChangeTarget, KindInfo, KubeObject } from '@/api/types'
import { fetchObject, liveObject } from '@/features/act/store/objects'
import { nodeKind, podKind, resolveKind } from '@/kubernetes/kinds'
import type { ObjectRef } from '@/kubernetes/object'
import { useTurns } from '@/live/answer'
import { kinds, loadKinds } from '@/live/discovery'

/** undefined for a kind that is not served, or that is not loaded yet. */
export function kindOf({ apiVersion, kind }: ChangeTarget): KindInfo | undefined {
  if (apiVersion === 'v1' && kind === 'Pod') return podKind
  if (apiVersion === 'v1' && kind === 'Node') return nodeKind
  return resolveKind(kinds.value, apiVersion, kind)
}

function refOf(target: ChangeTarget): ObjectRef | undefined {
  const kind = kindOf(target)
  return kind && { kind, namespace: kind.namespaced ? (target.namespace ?? 'default') : undefined, name: target.name }
}

const typed = ({ apiVersion, kind }: ChangeTarget, object: KubeObject | undefined) =>
  object && { ...object, apiVersion, kind }

function knownObject(target: ChangeTarget): KubeObject | undefined {
  const of = refOf(target)
  return typed(target, of && liveObject(of))
}

/** The whole object; undefined if it does not exist. Throws ApiError for any other refusal. */
export async function wholeObject(target: ChangeTarget): Promise<KubeObject | undefined> {
  if (!kindOf(target)) await loadKinds()
  const of = refOf(target)
  try {
    return typed(target, of && (await fetchObject(of)))
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined
    throw error
  }
}

/** Nodes and pods are all here already: one that is not does not exist, such as a hypothetical node. */
const isWatched = ({ apiVersion, kind }: ChangeTarget) => apiVersion === 'v1' && (kind === 'Node' || kind === 'Pod')

export type Lookup = (target: ChangeTarget) => KubeObject | undefined

const keyOf = ({ apiVersion, kind, namespace, name }: ChangeTarget) =>
  `${apiVersion}/${kind}/${namespace ?? ''}/${name}`

/** A lookup of these objects, which is a new one whenever another object has arrived. */
export function useLookup(targets: Ref<readonly ChangeTarget[]>): ShallowRef<Lookup> {
  const found = new Map<string, KubeObject | undefined>()
  const make = (): Lookup => (target) => knownObject(target) ?? found.get(keyOf(target))
  const lookup = shallowRef(make())
  const turns = useTurns()
  watch(
    targets,
    async (wanted) => {
      const signal = turns.next()
      for (const target of wanted) {
        if (isWatched(target) || knownObject(target) || found.has(keyOf(target))) continue
        // A difference without its object is only less complete.
        const object = await wholeObject(target).catch(() => undefined)
        if (signal.aborted) return
        found.set(keyOf(target), object)
        lookup.value = make()
      }
    },
    { immediate: true }
  )
  return lookup
}
