// What a judgement of a draft says: which plugin decided, where the pods would go, and how that
// changes the nodes.

import type { PartedBy, ShadowItem } from '@/api/types'
import { byPlugin } from './shadow'

/** What one node gets of the judged decisions. */
export interface Landing {
  before: number
  after: number
}

export interface Moved {
  workload: string
  moved: number
  of: number
  from: string[]
  to: string[]
  /** The plugin that decided most of them. */
  plugin: string | undefined
}

export interface Consequence {
  plugin: string | undefined
  extensionPoint: PartedBy['extensionPoint'] | undefined
  /** How many of those that differ the plugin decided. */
  decided: number
  /** The node that most of those would go to. */
  to: string
  toCount: number
  /** By node; nodes without a decision are not here. */
  landings: ReadonlyMap<string, Landing>
  /** By workload, the one with the most first. */
  moved: Moved[]
}

export function consequenceOf(items: readonly ShadowItem[]): Consequence {
  const landings = new Map<string, Landing>()
  const to = new Map<string, number>()
  const workloads = new Map<string, ShadowItem[]>()
  const land = (node: string, side: keyof Landing) => {
    if (!node) return
    const one = landings.get(node) ?? { before: 0, after: 0 }
    landings.set(node, { ...one, [side]: one[side] + 1 })
  }
  for (const item of items) {
    land(item.live.node, 'before')
    // A tie that chance decides changes nothing that one could rely on.
    land(item.differs ? item.shadow.node : item.live.node, 'after')
    const name = item.owner?.name ?? item.pod.name
    workloads.set(name, [...(workloads.get(name) ?? []), item])
    if (item.differs && item.shadow.node) to.set(item.shadow.node, (to.get(item.shadow.node) ?? 0) + 1)
  }
  const first = byPlugin(items)[0]
  const [most] = [...to].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
  return {
    plugin: first?.plugin,
    extensionPoint: first?.extensionPoint,
    decided: first?.count ?? 0,
    to: most?.[0] ?? '',
    toCount: most?.[1] ?? 0,
    landings,
    moved: [...workloads]
      .map(([workload, all]): Moved => {
        const moved = all.filter((item) => item.differs)
        const nodes = (side: 'live' | 'shadow') => [...new Set(moved.map((item) => item[side].node))]
        return {
          workload,
          moved: moved.length,
          of: all.length,
          from: nodes('live'),
          to: nodes('shadow'),
          plugin: byPlugin(moved)[0]?.plugin,
        }
      })
      .filter(({ moved }) => moved)
      .sort((a, b) => b.moved - a.moved || (a.workload < b.workload ? -1 : 1)),
  }
}
