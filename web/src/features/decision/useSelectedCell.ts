// The part of the decision whose detail is shown, kept in the address: a cell of a table, a
// candidate of preemption, or an extension point.

import { computed, type ComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { useQuery } from '@/ui/query'

export interface SelectedCell {
  node: ComputedRef<string>
  plugin: ComputedRef<string>
  stage: ComputedRef<string>
  /** A node without a plugin: a candidate whose dry run is asked for. */
  candidate: ComputedRef<string>
  pick(what: { node?: string; plugin?: string; stage?: string }): void
  /** Shows or leaves a candidate. */
  pickCandidate(node: string): void
  /** Shows or leaves an extension point, and brings its table into view. */
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
