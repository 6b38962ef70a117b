// The groups of the cluster and the one in the URL, with the records that the board needs:
// of the first member that waits in each group, and of the members that tell most about the
// selected one.

import { useNow } from '@vueuse/core'
import { computed } from 'vue'
import type { Summary } from '@/api/types'
import { useCyclesOf } from '@/features/decision/store/cycles'
import { coschedulingGroupKind, nativeGroupKind } from '@/kubernetes/batch'
import { podRequests } from '@/kubernetes/pods'
import { useDiscovery, useServedKind } from '@/live/servedKinds'
import { pods, results } from '@/live/watched'
import { useQuery } from '@/ui/query'
import { blockedBy, filterGangs, firstToWait, gangsOf, newestByPod } from './model/gangs'
import type { Held } from './model/places'
import { waitOf, type Wait } from './model/wait'

/** More records than this are not fetched for the ring of each group. */
const mostWaits = 30

export function useGangs() {
  useDiscovery()
  const coscheduling = useServedKind(coschedulingGroupKind)
  /** Whether the cluster serves the groups of Kubernetes. */
  const native = useServedKind(nativeGroupKind)
  const filter = useQuery('q')
  /** The group in the URL; '' for the first one. */
  const chosen = useQuery('group')
  const now = useNow({ interval: 1000 })

  const newest = computed(() => newestByPod(results.value.items))
  const all = computed(() =>
    gangsOf(
      { coscheduling: coscheduling.items.value.values(), native: native.items.value.values() },
      pods.value.items.values(),
      newest.value
    )
  )
  const found = computed(() => filterGangs(all.value, filter.value))
  const selected = computed(
    () => all.value.find(({ id }) => id === chosen.value) ?? (chosen.value ? undefined : found.value[0])
  )

  const blockedNow = computed(() =>
    selected.value && selected.value.state !== 'running' ? blockedBy(selected.value, results.value.items) : undefined
  )
  /** Any member that was tried has the placements of the group's cycle. */
  const tried = computed(() => {
    if (selected.value?.system !== 'native') return undefined
    return selected.value.members
      .map(({ summary }) => summary)
      .filter((summary) => !!summary)
      .sort((a, b) => b.startTime.localeCompare(a.startTime))[0]
  })
  const wanted = computed(() => {
    const waiting = all.value.flatMap((gang) => firstToWait(gang)?.summary ?? []).slice(0, mostWaits)
    const first = [blockedNow.value?.summary, tried.value].filter((summary): summary is Summary => !!summary)
    return [...new Map([...first, ...waiting].map((summary) => [summary.pod.uid, summary])).values()]
  })
  const cycles = useCyclesOf(wanted)

  /** How long members wait, by group. */
  const waits = computed(() => {
    const out = new Map<string, Wait>()
    for (const gang of all.value) {
      const first = firstToWait(gang)
      const cycle = first && cycles.value.get(first.pod.metadata.uid ?? '')
      const wait = cycle && waitOf(cycle)
      if (first && wait) out.set(gang.id, { ...wait, pod: first.pod.metadata.name })
    }
    return out
  })
  /** Pods of all groups that wait at Permit. */
  const held = computed(() =>
    [...newest.value.values()].flatMap((summary): Held[] => {
      if (summary.outcome !== 'waiting' || !summary.selectedNode) return []
      const pod = pods.value.items.get(`${summary.pod.namespace}/${summary.pod.name}`)
      return pod && pod.metadata.uid === summary.pod.uid && !pod.spec?.nodeName
        ? [{ uid: summary.pod.uid, node: summary.selectedNode, requests: podRequests(pod) }]
        : []
    })
  )
  return {
    ready: computed(() => coscheduling.synced.value && native.synced.value && pods.value.synced),
    all,
    found,
    native: computed(() => !!native.served.value),
    filter,
    chosen,
    selected,
    /** The member because of which the others wait, with its record. */
    blocked: computed(
      () => blockedNow.value && { ...blockedNow.value, cycle: cycles.value.get(blockedNow.value.summary.pod.uid) }
    ),
    placements: computed(() => (tried.value ? cycles.value.get(tried.value.pod.uid) : undefined)),
    waits,
    held,
    now,
  }
}
