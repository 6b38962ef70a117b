// The cluster view, computed from the live nodes and pods.

import { computed } from 'vue'
import type { ClusterView } from '@/kubernetes/cluster'
import { model, nodes, pods } from './watched'

export const cluster = computed((): ClusterView => {
  // The model is up to date with what these two publish.
  void [nodes.value, pods.value]
  return model.view()
})
