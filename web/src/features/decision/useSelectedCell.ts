// The selected part of the decision, kept in the URL: a cell of a table, a candidate of
// preemption, or an extension point.

import { computed, type ComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { useQuery } from '@/ui/query'

export interface SelectedCell {
  node: ComputedRef<string>
  plugin: ComputedRef<string>
  stage: ComputedRef<string>
  /** The candidate whose dry run is selected: a node without a plugin. */
  candidate: ComputedRef<string>
  pick(what: { node?: string; plugin?: string; stage?: string }): void
  /** Selects a candidate, or clears the selection if it is already selected. */
  pickCandidate(node: string): void
  /** Selects an extension point and scrolls to its table, or clears the selection if it is already selected. */
  pickStage(name: string): void
}

const sectionOf: Record<string, string> = { Filter: 'filter', PostFilter: 'preemption', Score: 'score' }

export function useSelectedCell(): SelectedCell {
  const route = useRoute()
  const router = useRouter()
  const [node, plugin, stage] = [useQuery('node'), useQuery('plugin'), useQuery('stage')]
  const candidate = computed(() => (plugin.value ? '' : node.value))
  function pick(what: { node?: string; plugin?: string; stage?: string }) {
    void router.replace({ query: { ...route.query, node: undefined, plugin: undefined, stage: undefined, ...what } })
  }
  return {
    node,
    plugin,
    stage,
    candidate,
    pick,
    pickCandidate: (name) => pick(name === candidate.value ? {} : { node: name }),
    pickStage(name) {
      if (name === stage.value) return pick({})
      pick({ stage: name })
      document.getElementById(sectionOf[name] ?? '')?.scrollIntoView({ block: 'nearest' })
    },
  }
}
