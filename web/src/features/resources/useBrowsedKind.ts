// The kinds that the cluster serves, and the one in the URL.

import { useTimeoutFn } from '@vueuse/core'
import { computed, onScopeDispose, watch, type ComputedRef } from 'vue'
import { useRoute } from 'vue-router'
import type { KindInfo } from '@/api/types'
import { sortNames } from '@/kubernetes/cluster'
import { browsableKinds, nodeKind, podKind } from '@/kubernetes/kinds'
import { kinds, loadKinds } from '@/live/discovery'
import { connection } from '@/live/status'
import { useKind } from '@/live/watched'
import { kindOfSlug } from './model/kindGroups'

export interface BrowsedKind {
  /** Only nodes and pods until discovery has finished. */
  browsable: ComputedRef<readonly KindInfo[]>
  /** The kind's part of the URL. */
  slug: ComputedRef<string>
  /** undefined if the cluster does not serve it. */
  kind: ComputedRef<KindInfo | undefined>
  /** Repeats discovery. */
  retry(): void
}

const definitionKind: KindInfo = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition', resource: 'customresourcedefinitions', namespaced: false, verbs: [] }
/** The API server needs about this long to serve a new kind after its definition is established (ms). */
const servedAfter = 300

interface Definition {
  metadata: { name: string }
  status?: { conditions?: { type: string; status: string }[] }
}

export function useBrowsedKind(): BrowsedKind {
  const route = useRoute()
  const retry = () => void loadKinds(true).catch(() => {})
  void loadKinds().catch(() => {})
  watch(
    () => connection.value.kind === 'live',
    (live) => live && retry(),
  )

  const definitions = useKind(definitionKind)
  onScopeDispose(definitions.stop)
  const established = computed(() => {
    const all = [...definitions.published.value.items.values()] as Definition[]
    return sortNames(all.filter((d) => d.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True')).map((d) => d.metadata.name)).join()
  })
  const { start: retrySoon } = useTimeoutFn(retry, servedAfter, { immediate: false })
  watch(established, retrySoon)

  const browsable = computed(() => (kinds.value.length ? browsableKinds(kinds.value) : [nodeKind, podKind]))
  const slug = computed(() => String(route.params.resource || 'pods'))
  return { browsable, slug, kind: computed(() => kindOfSlug(browsable.value, slug.value)), retry }
}
