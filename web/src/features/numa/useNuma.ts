// Nodes with NUMA nodes, the one in the URL, and the decision whose pod is laid in.

import { computed, type ComputedRef, type Ref, type WritableComputedRef } from 'vue'
import type { Cycle, Pod, Summary } from '@/api/types'
import { usePluginDecisions } from '@/features/batch/usePluginDecisions'
import { useTold } from '@/features/batch/useTold'
import { useCycle } from '@/features/decision/store/cycles'
import { topologyKind } from '@/kubernetes/batch'
import { useDiscovery, useServedKind } from '@/live/servedKinds'
import { pods, results } from '@/live/watched'
import { useQuery } from '@/ui/query'
import { numaNodesOf, type NumaNode } from './model/topology'
import { numaDecisions, numaPlugin, verdictsOf, type NumaVerdict } from './model/verdicts'

export interface Numa {
  ready: ComputedRef<boolean>
  nodes: ComputedRef<readonly NumaNode[]>
  found: ComputedRef<readonly NumaNode[]>
  filter: Ref<string>
  /** The node in the URL; '' for the one that tells most. */
  chosen: WritableComputedRef<string>
  selected: ComputedRef<NumaNode | undefined>
  decisions: ComputedRef<readonly Summary[]>
  /** namespace/name of the pod in the URL; '' for the newest decision. */
  podKey: WritableComputedRef<string>
  summary: ComputedRef<Summary | undefined>
  cycle: Ref<Cycle | undefined>
  error: Ref<unknown>
  /** The pod of the decision, while it exists. */
  pod: ComputedRef<Pod | undefined>
  /** undefined when the plugin did not run in the decision. */
  verdicts: ComputedRef<ReadonlyMap<string, NumaVerdict> | undefined>
}

export function useNuma(): Numa {
  useDiscovery()
  const objects = useServedKind(topologyKind)
  const filter = useQuery('q')
  const chosen = useQuery('node')
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
  const pod = computed(() => {
    const found = cycle.value && pods.value.items.get(`${cycle.value.pod.namespace}/${cycle.value.pod.name}`)
    return found?.metadata.uid === cycle.value?.pod.uid ? found : undefined
  })
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
