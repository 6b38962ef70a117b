// Karpenter's kinds.

import type { KindInfo } from '@/api/types'

export const nodePoolKind: KindInfo = {
  group: 'karpenter.sh',
  version: 'v1',
  kind: 'NodePool',
  resource: 'nodepools',
  namespaced: false,
  verbs: [],
}
export const nodeClaimKind: KindInfo = {
  group: 'karpenter.sh',
  version: 'v1',
  kind: 'NodeClaim',
  resource: 'nodeclaims',
  namespaced: false,
  verbs: [],
}
export const disruptionBudgetKind: KindInfo = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  resource: 'poddisruptionbudgets',
  namespaced: true,
  verbs: [],
}
