// The cluster view, computed from the live nodes and pods.

import { computed } from 'vue'
import { buildCluster } from '@/domain/cluster'
import { freeNames } from '@/domain/templates'
import { nodes, pods } from './live'

export const cluster = computed(() => buildCluster(nodes.value.items, pods.value.items))

/** Names for templates that are not taken now. */
export function currentFreeNames() {
  return freeNames({ nodes: new Set(nodes.value.items.keys()), pods: new Set(pods.value.items.keys()) })
}
