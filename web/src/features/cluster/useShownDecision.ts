// The decision on the map: the pod in the URL, its newest cycle, and the verdict on each node.
// While a pod is typed in the create dialog beside the map, its prediction takes that place.

import { computed } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { Cycle, Pod } from '@/api/types'
import { verdicts } from '@/features/decision/model/cycle'
import { useCycle } from '@/features/decision/store/cycles'
import { besideMap, prediction } from '@/features/whatif/store/prediction'
import { t } from '@/i18n'
import { costOf, sumNodes } from '@/kubernetes/cluster'
import { splitKey } from '@/kubernetes/object'
import { podRequests } from '@/kubernetes/pods'
import { formatAmount, formatResource } from '@/kubernetes/quantity'
import { cluster } from '@/live/cluster'
import { useNewest } from '@/live/newest'
import { pods, results } from '@/live/watched'
import { useQuery } from '@/ui/query'
import { useEscape } from '@/ui/useEscape'
import { nearestNode } from '@/features/decision/model/nearest'
import { nearnessOf } from './model/nearness'
import { addedAfter, nodesAtDecision, placementTimes, verdictsAtDecision } from './model/nodesAtDecision'
import { parseVerdictFilter, tally as tallyOf } from './model/tileFaces'

export type ShownDecision = ReturnType<typeof useShownDecision>

/** Escape closes the decision. */
export function useShownDecision() {
  const route = useRoute()
  const router = useRouter()
  const show = useQuery('show')
  const moment = useQuery('at', 'decision', ['decision', 'now'])
  /** What is predicted while a pod is typed; the map then shows nothing that has happened. */
  const predicted = computed(() => (besideMap.value ? prediction.value : undefined))
  /** namespace/name of the pod; '' when no decision is shown. */
  const selected = computed(() => (!predicted.value && typeof route.query.pod === 'string' ? route.query.pod : ''))
  const name = computed(() => splitKey(selected.value))
  const pod = computed(() => pods.value.items.get(selected.value))
  const uid = computed(() => pod.value?.metadata.uid)
  const { summary, missing } = useNewest(computed(() => name.value && { ...name.value, uid: uid.value }))
  const { cycle: recordedCycle, error } = useCycle(summary)
  /** The other copies see the nodes only a little fuller. */
  const cycle = computed((): Cycle | undefined => (predicted.value ? predicted.value.cycles[0] : recordedCycle.value))

  // Its own computed value: while it stays the same, a stream of changes does not recompute what
  // depends on it.
  const present = computed(() => cluster.value.nodes)
  const decided = computed(() =>
    cycle.value && (selected.value || predicted.value) ? verdicts(cycle.value) : undefined
  )
  // As one text, which stays the same while nodes only change.
  const added = computed(() => (cycle.value && selected.value ? addedAfter(cycle.value, present.value).join(' ') : ''))
  const verdictOf = computed(
    () => decided.value && verdictsAtDecision(decided.value, added.value ? added.value.split(' ') : [])
  )
  const nodes = computed(() =>
    cycle.value && verdictOf.value && selected.value && moment.value === 'decision'
      ? nodesAtDecision(present.value, cycle.value, placementTimes(results.value.items))
      : present.value
  )
  const asker = computed(() => (predicted.value ? (predicted.value.pod as Pod) : pod.value))
  const ask = computed(() => (verdictOf.value && asker.value ? podRequests(asker.value) : undefined))
  const nearness = computed(() =>
    cycle.value && verdictOf.value && ask.value
      ? nearnessOf(nodes.value, { cycle: cycle.value, verdictOf: verdictOf.value, ask: ask.value })
      : undefined
  )
  const tally = computed(() => (verdictOf.value ? tallyOf(present.value, verdictOf.value, nearness.value) : undefined))

  /** Shows the decision about a pod. The shown pod, or undefined, closes it. */
  function select(key: string | undefined) {
    const wanted = key && key !== selected.value ? key : undefined
    void router.push({ query: { ...route.query, show: undefined, at: undefined, pod: wanted } })
  }
  useEscape(() => selected.value && select(undefined))

  return {
    predicted,
    selected,
    pod,
    cycle,
    error,
    /** True once it is certain that the pod has no attempt. */
    missing,
    verdictOf,
    tally,
    nearest: computed(() => (cycle.value && verdictOf.value ? nearestNode(cycle.value) : undefined)),
    ask,
    askText: computed(() =>
      [...(ask.value ?? [])].map(([resource, value]) => amountText(resource, value)).join(t('common.separator'))
    ),
    moment,
    nodes,
    cost: computed(() => costOf(nodes.value)),
    totals: computed(() => (nodes.value === present.value ? cluster.value.totals : sumNodes(nodes.value))),
    show,
    filter: computed(() => parseVerdictFilter(verdictOf.value ? show.value : '')),
    select,
    /** Calling it again removes the filter. */
    isolate(at: number) {
      const plugin = tally.value?.plugins[at]?.plugin
      const wanted = plugin ? `by:${plugin}` : ''
      show.value = wanted === show.value ? '' : wanted
    },
  }
}

function amountText(resource: string, value: number): string {
  if (resource === 'cpu') return `${formatAmount(value, 'cpu')} CPU`
  return `${formatResource(resource, value)}${resource === 'memory' ? '' : ` ${resource}`}`
}
