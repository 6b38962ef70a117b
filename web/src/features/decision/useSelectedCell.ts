// The selected part of the decision, kept in the URL: a cell of a table, a candidate of
// preemption, or an extension point.

import { computed, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { useQuery } from '@/ui/query'
import type { FilterMatrix } from './model/matrix'

export type CellTable = 'filter' | 'score'

interface Selection {
  node?: string
  plugin?: string
  table?: CellTable
  stage?: string
}

export type SelectedCell = ReturnType<typeof useSelectedCell>

const sectionOf: Record<string, string> = { Filter: 'filter', PostFilter: 'preemption', Score: 'score' }

export function useSelectedCell(matrix: Ref<FilterMatrix | undefined>) {
  const route = useRoute()
  const router = useRouter()
  const [node, plugin, stage] = [useQuery('node'), useQuery('plugin'), useQuery('stage')]
  /** '' in links of earlier versions. */
  const table = useQuery('table', '', ['', 'filter', 'score'])
  const candidate = computed(() => (plugin.value ? '' : node.value))
  function pick(what: Selection) {
    void router.replace({
      query: { ...route.query, node: undefined, plugin: undefined, table: undefined, stage: undefined, ...what },
    })
  }
  return {
    node,
    plugin,
    cellTable: computed(() => table.value || (matrix.value?.plugins.includes(plugin.value) ? 'filter' : 'score')),
    stage,
    candidate,
    pick,
    /** Selects a candidate, or clears the selection if it is already selected. */
    pickCandidate: (name: string) => pick(name === candidate.value ? {} : { node: name }),
    /**
     * Selects an extension point and scrolls to its table, or clears the selection if it is already
     * selected.
     */
    pickStage(name: string) {
      if (name === stage.value) return pick({})
      pick({ stage: name })
      document.getElementById(sectionOf[name] ?? '')?.scrollIntoView({ block: 'nearest' })
    },
  }
}
