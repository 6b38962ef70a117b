// The nodes of two compared branches as small maps.

import type { BranchComparison } from '@/api/branches'

type BranchNode = BranchComparison['nodes'][number]

export interface MappedNode extends BranchNode {
  /** The pods on it, or what they request, differ, or only one branch has it. */
  differs: boolean
}

/** As many nodes as one can take in. */
const most = 60

/** The nodes to draw, by name. Of a larger cluster, only those that differ, up to a bound. */
export function mappedNodes(nodes: readonly BranchNode[]): { nodes: MappedNode[]; left: number } {
  const all = nodes.map((node) => ({ ...node, differs: differs(node) }))
  const shown = all.length > most ? all.filter((node) => node.differs) : all
  return { nodes: shown.slice(0, most), left: all.length - Math.min(shown.length, most) }
}

function differs({ a, b }: BranchNode): boolean {
  return !a || !b || a.pods !== b.pods || a.cpuMillis !== b.cpuMillis || a.memoryBytes !== b.memoryBytes
}
