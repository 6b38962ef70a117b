// Nodes with NUMA nodes, the one in the URL, and the decision whose pod is laid in.

import { computed } from 'vue'
import { usePluginDecisions } from '@/features/batch/usePluginDecisions'
import { useTold } from '@/features/batch/useTold'
import { useCycle } from '@/features/decision/store/cycles'
import { topologyKind } from '@/kubernetes/batch'
import { useDiscovery, useServedKind } from '@/live/servedKinds'
import { pods, results } from '@/live/watched'
import { useQuery } from '@/ui/query'
import { numaNodesOf, type NumaNode } from './model/topology'
import { numaDecisions, numaPlugin, verdictsOf } from './model/verdicts'

export function useNuma() {
  useDiscovery()
  const objects = useServedKind(topologyKind)
  const filter = useQuery('q')
  /** The node in the URL; '' for the one that tells most. */
  const chosen = useQuery('node')
  /** namespace/name of the pod in the URL; '' for the newest decision. */
  const podKey = useQuery('pod')
  const attempt = useQuery('attempt')

  const nodes = computed(() => numaNodesOf(objects.items.value.values()))
  const found = computed(() =>
    nodes.value.filter(({ name, policy, scope }) =>
      `${name} ${policy} ${scope}`.toLowerCase().includes(filter.value.toLowerCase())
    )
  )
  const summaries = usePluginDecisions(numaPlugin)
  const decisions = computed(() => numaDecisions(summaries.value, new Set(nodes.value.map(({ name }) => name))))
  const { summary } = useTold(podKey, attempt, decisions)
  const { cycle, error } = useCycle(summary)
  /** The pod of the decision, while it exists. */
  const pod = computed(() => {
    const found = cycle.value && pods.value.items.get(`${cycle.value.pod.namespace}/${cycle.value.pod.name}`)
    return found?.metadata.uid === cycle.value?.pod.uid ? found : undefined
  })
  /** undefined when the plugin did not run in the decision. */
  const verdicts = computed(() => cycle.value && verdictsOf(cycle.value, nodes.value, pod.value))
  const telling = computed(() => {
    const kindOf = (node: NumaNode) => verdicts.value?.get(node.name)?.kind
    return (
      nodes.value.find(({ name }) => name === cycle.value?.selectedNode) ??
      nodes.value.find((node) => kindOf(node) === 'rejected') ??
      nodes.value.find((node) => kindOf(node) === 'aligned') ??
      nodes.value[0]
    )
  })
  return {
    ready: computed(() => objects.synced.value && results.value.synced),
    nodes,
    found,
    filter,
    chosen,
    selected: computed(() => (chosen.value ? nodes.value.find(({ name }) => name === chosen.value) : telling.value)),
    decisions,
    podKey,
    summary,
    cycle,
    error,
    pod,
    verdicts,
  }
}
