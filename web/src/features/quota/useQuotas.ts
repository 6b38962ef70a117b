// The quotas of the cluster, the one in the URL, and the decision that the board tells.

import { computed } from 'vue'
import { useCyclesOf, useCycle } from '@/features/decision/store/cycles'
import { usePluginDecisions } from '@/features/batch/usePluginDecisions'
import { useTold } from '@/features/batch/useTold'
import { quotaKind } from '@/kubernetes/batch'
import { useDiscovery, useServedKind } from '@/live/servedKinds'
import { pods, results } from '@/live/watched'
import { useQuery } from '@/ui/query'
import { quotaDecisions, quotaPlugin } from './model/facts'
import { quotasOf, resourcesOf } from './model/quotas'

export function useQuotas() {
  useDiscovery()
  const objects = useServedKind(quotaKind)
  const filter = useQuery('q')
  /** The quota in the URL; '' for that of the decision. */
  const chosen = useQuery('quota')
  const wantedResource = useQuery('resource')
  /** namespace/name of the pod in the URL; '' for the newest decision. */
  const pod = useQuery('pod')
  const attempt = useQuery('attempt')

  const summaries = usePluginDecisions(quotaPlugin)
  const all = computed(() => quotasOf(objects.items.value.values(), pods.value.items.values()))
  const found = computed(() => all.value.filter(({ key }) => key.toLowerCase().includes(filter.value.toLowerCase())))
  const resources = computed(() => resourcesOf(all.value))
  /** The newest decisions in which a quota played a part. */
  const decisions = computed(() =>
    quotaDecisions(summaries.value, new Set(all.value.map(({ namespace }) => namespace)))
  )

  const { ofPod, summary } = useTold(pod, attempt, decisions)
  const { cycle, error } = useCycle(summary)
  /** The attempts after the told one, in order, and the record of the first of them. */
  const later = computed(() => {
    const told = summary.value
    if (!told) return []
    const live = results.value.items.filter((one) => one.pod.uid === told.pod.uid)
    const known = live.length ? live : ofPod.value.filter((one) => one.pod.uid === told.pod.uid)
    return known.filter((one) => one.attempt > told.attempt).sort((a, b) => a.attempt - b.attempt)
  })
  const nextCycles = useCyclesOf(computed(() => later.value.slice(0, 1)))

  return {
    ready: computed(() => objects.synced.value && pods.value.synced && results.value.synced),
    all,
    found,
    filter,
    chosen,
    resources,
    resource: computed({
      get: () =>
        resources.value.includes(wantedResource.value) ? wantedResource.value : (resources.value[0] ?? 'cpu'),
      set: (value) => (wantedResource.value = value === resources.value[0] ? '' : value),
    }),
    decisions,
    pod,
    summary,
    cycle,
    error,
    later,
    next: computed(() => (summary.value ? nextCycles.value.get(summary.value.pod.uid) : undefined)),
  }
}
