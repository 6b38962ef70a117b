// The kinds that the cluster serves, and the one in the URL.

import { computed } from 'vue'
import { useRoute } from 'vue-router'
import { browsableKinds, nodeKind, podKind } from '@/kubernetes/kinds'
import { kinds } from '@/live/discovery'
import { useDiscovery } from '@/live/servedKinds'
import { kindOfSlug } from './model/kindGroups'

export type BrowsedKind = ReturnType<typeof useBrowsedKind>

export function useBrowsedKind() {
  const route = useRoute()
  const { retry } = useDiscovery()
  /** Only nodes and pods until discovery has finished. */
  const browsable = computed(() => (kinds.value.length ? browsableKinds(kinds.value) : [nodeKind, podKind]))
  const slug = computed(() => String(route.params.resource || 'pods'))
  return { browsable, slug, kind: computed(() => kindOfSlug(browsable.value, slug.value)), retry }
}
