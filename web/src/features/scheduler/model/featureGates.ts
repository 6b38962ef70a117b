// Which of Kubernetes' feature gates to show: of hundreds, only few affect scheduling.

import type { FeatureGate } from '@/api/types'
import { finder } from '@/kubernetes/search'

const touchesScheduling =
  /Schedul|Workload|Gang|Preempt|Batching|DynamicResource|^DRA|TopologySpread|NodeDeclared|StorageCapacity|Nominated|PodLevelResources|InPlacePod|Toleration|NodeAffinity|PodGroup|Placement/

/**
 * Changed gates first. Without text, those that affect scheduling; with text, all whose name
 * contains every word.
 */
export function gatesToShow(gates: readonly FeatureGate[], text: string): FeatureGate[] {
  const found = finder(text)
  const isChanged = (gate: FeatureGate) => gate.enabled !== gate.default
  return gates
    .filter((gate) => (found ? found(gate.name) : isChanged(gate) || touchesScheduling.test(gate.name)))
    .sort((a, b) => Number(isChanged(b)) - Number(isChanged(a)) || (a.name < b.name ? -1 : 1))
}
