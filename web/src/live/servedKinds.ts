// The kinds that the API server serves, kept up to date: discovery is repeated after each
// change of the custom resource definitions and after each reconnect.

import { useTimeoutFn } from '@vueuse/core'
import { computed, onScopeDispose, shallowRef, watch, type ComputedRef } from 'vue'
import type { KindInfo, KubeObject } from '@/api/types'
import { sortNames } from '@/kubernetes/cluster'
import { isResource } from '@/kubernetes/kinds'
import { kinds, loadKinds } from './discovery'
import { connection } from './status'
import { useKind, type Published } from './watched'

const definitionKind: KindInfo = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
  verbs: [],
}
/** The API server needs about this long to serve a new kind after its definition is established (ms). */
const servedAfter = 300

interface Definition {
  metadata: { name: string }
  status?: { conditions?: { type: string; status: string }[] }
}

/** Keeps `kinds` of discovery up to date while the calling scope lives; retry repeats discovery. */
export function useDiscovery(): { retry: () => void } {
  const retry = () => void loadKinds(true).catch(() => {})
  void loadKinds().catch(() => {})
  watch(
    () => connection.value.kind === 'live',
    (live) => live && retry()
  )
  const definitions = useKind(definitionKind)
  onScopeDispose(definitions.stop)
  const established = computed(() => {
    const all = [...definitions.published.value.items.values()] as Definition[]
    return sortNames(
      all
        .filter((d) => d.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True'))
        .map((d) => d.metadata.name)
    ).join()
  })
  const { start: retrySoon } = useTimeoutFn(retry, servedAfter, { immediate: false })
  watch(established, retrySoon)
  return { retry }
}

export interface ServedKind<T> {
  /** The objects; none while the cluster does not serve the kind. */
  items: ComputedRef<ReadonlyMap<string, T>>
  /** undefined until discovery has finished. */
  served: ComputedRef<boolean | undefined>
  /** The first list is complete, or there is nothing to list. */
  synced: ComputedRef<boolean>
}

/** Follows a kind of which the definition may come and go. The caller also calls useDiscovery. */
export function useServedKind<T extends KubeObject>(wanted: KindInfo): ServedKind<T> {
  const found = computed(() => kinds.value.find((kind) => isResource(kind, wanted)))
  const live = shallowRef<ReturnType<typeof useKind>>()
  watch(
    () => found.value?.version,
    () => {
      live.value?.stop()
      live.value = found.value && useKind(found.value)
    },
    { immediate: true }
  )
  onScopeDispose(() => live.value?.stop())
  const published = computed(() => live.value?.published.value as Published<T> | undefined)
  return {
    items: computed(() => new Map(published.value?.items ?? [])),
    served: computed(() => (kinds.value.length ? !!found.value : undefined)),
    synced: computed(() => (found.value ? !!published.value?.synced : kinds.value.length > 0)),
  }
}
