// The decisions at a moment: the newest ones until then, and the one that the map shows.

import { computed, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { getCycle, listResults } from '@/api/simulator'
import type { Cycle, Pod, Summary } from '@/api/types'
import { verdicts, type NodeVerdict } from '@/features/decision/model/cycle'
import { podRequests, type Amounts } from '@/kubernetes/pods'
import { useAnswer } from '@/live/answer'
import { useQuery } from '@/ui/query'
import type { Past } from './usePast'

export interface MomentDecisions {
  /** Newest first. */
  recent: ComputedRef<readonly Summary[]>
  /** uid/attempt of the shown decision, as in the URL; '' shows none. */
  shown: Ref<string>
  cycle: ShallowRef<Cycle | undefined>
  error: ShallowRef<unknown>
  verdictOf: ComputedRef<((node: string) => NodeVerdict) | undefined>
  /** What the decided pod requests, if the moment has the pod. */
  ask: ComputedRef<Amounts | undefined>
  /** namespace/name of the decided pod. */
  selected: ComputedRef<string>
  /** Shows the newest decision until the moment about a pod; undefined when it had none. */
  pick(pod: Pod): Promise<boolean>
}

const most = 8

export function useMomentDecisions({ moment, at, view }: Past): MomentDecisions {
  const shown = useQuery('decision')
  const list = useAnswer(async (signal, until: string) => (await listResults({ until, limit: most }, signal)).items)
  watch(
    () => (at.value ? moment.value?.time : undefined),
    (time) => (time ? void list.ask(time) : list.clear()),
    { immediate: true }
  )
  const {
    value: cycle,
    error,
    ask,
    clear,
  } = useAnswer((signal, uid: string, attempt: number) => getCycle(uid, attempt, signal), { dropOnError: true })
  watch(
    shown,
    (text) => {
      const [uid = '', attempt = ''] = text.split('/')
      if (uid) void ask(uid, Number(attempt) || 1)
      else clear()
    },
    { immediate: true }
  )
  const selected = computed(() => (cycle.value ? `${cycle.value.pod.namespace}/${cycle.value.pod.name}` : ''))
  const uid = computed(() => cycle.value?.pod.uid)
  const decided = computed(() =>
    uid.value
      ? [...view.value.pending, ...view.value.nodes.flatMap((node) => node.podList)].find(
          (pod) => pod.metadata.uid === uid.value
        )
      : undefined
  )
  return {
    recent: computed(() => list.value.value ?? []),
    shown,
    cycle,
    error,
    verdictOf: computed(() => cycle.value && verdicts(cycle.value)),
    ask: computed(() => decided.value && podRequests(decided.value)),
    selected,
    async pick({ metadata }) {
      const until = moment.value?.time
      const { items } = await listResults({
        namespace: metadata.namespace ?? '',
        name: metadata.name,
        ...(metadata.uid ? { uid: metadata.uid } : {}),
        ...(until ? { until } : {}),
        limit: 1,
      })
      const [found] = items
      if (found) shown.value = `${found.pod.uid}/${found.attempt}`
      return !!found
    },
  }
}
