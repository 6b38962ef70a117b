// The kinds that the cluster serves, and the one in the URL.

import { computed, type ComputedRef } from 'vue'
import { useRoute } from 'vue-router'
import type { KindInfo } from '@/api/types'
import { browsableKinds, nodeKind, podKind } from '@/kubernetes/kinds'
import { kinds } from '@/live/discovery'
import { useDiscovery } from '@/live/servedKinds'
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

export function useBrowsedKind(): BrowsedKind {
  const route = useRoute()
  const { retry } = useDiscovery()
  const browsable = computed(() => (kinds.value.length ? browsableKinds(kinds.value) : [nodeKind, podKind]))
  const slug = computed(() => String(route.params.resource || 'pods'))
  return { browsable, slug, kind: computed(() => kindOfSlug(browsable.value, slug.value)), retry }
}
