// The faces of the map's tiles, in tile order.

import { computed } from 'vue'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import type { NodeGroup } from './model/arrange'
import {
  loadFace,
  loadScale,
  matchesVerdict,
  verdictFaces,
  type LoadOf,
  type Tally,
  type VerdictFilter,
} from './model/tileFaces'

export interface ShownTiles {
  groups: readonly NodeGroup[]
  load: LoadOf
  /** undefined while no decision is shown; then tiles show the load. */
  verdictOf: ((node: string) => NodeVerdict) | undefined
  tally: Tally | undefined
  filter: VerdictFilter
  nearest: { node: string } | undefined
}

const none = () => false

export function useTileFaces(of: Readonly<ShownTiles>) {
  const nodes = computed(() => of.groups.flatMap((group) => group.parts.flatMap((part) => part.nodes)))
  const scale = computed(() => loadScale(nodes.value, of.load))
  return {
    nodes,
    faces: computed(() => {
      const { verdictOf, tally } = of
      if (!verdictOf || !tally) return nodes.value.map((view) => loadFace(view, of.load, scale.value))
      const faceOf = verdictFaces(tally)
      return nodes.value.map((view) => faceOf(verdictOf(view.name), view.name))
    }),
    /** Whether the filter excludes a tile's node, which keeps its place. */
    dim: computed(() => {
      const { verdictOf, filter } = of
      if (!verdictOf || filter.kind === 'all') return none
      const all = nodes.value
      return (tile: number) => {
        const view = all[tile]
        return !view || !matchesVerdict(filter, verdictOf(view.name))
      }
    }),
    /** The tile of the chosen node; -1 if there is none. */
    chosen: computed(() => (of.tally?.chosen ? nodes.value.findIndex((view) => view.name === of.tally?.chosen) : -1)),
    /** The tile of the node that a pod which fits nowhere came nearest to; -1 if there is none. */
    nearest: computed(() => (of.nearest ? nodes.value.findIndex((view) => view.name === of.nearest?.node) : -1)),
  }
}
