// The question of the capacity page, as its URL asks it: which pod, under which hypothesis,
// and how many nodes would be needed for more.

import { refDebounced, watchDebounced } from '@vueuse/core'
import { computed, watch } from 'vue'
import { askCapacity } from '@/api/whatif'
import type { CapacityQuestion, KubeObject, Pod } from '@/api/types'
import { questionOf, withDecider } from '@/features/whatif/model/hypothesis'
import { useHypothesis } from '@/features/whatif/useHypothesis'
import { useQuestion } from '@/features/whatif/useQuestion'
import { parseText } from '@/features/yaml/model/documents'
import { splitKey } from '@/kubernetes/object'
import { pods } from '@/live/watched'
import { useQuery } from '@/ui/query'

export type Room = ReturnType<typeof useRoom>

/** The user pauses this long before a question is sent (ms). */
const pause = 400

export function useRoom() {
  const inURL = useHypothesis()
  const { hypothesis, suppose } = inURL
  /** namespace/name of a pod of the cluster; '' for one from YAML. */
  const podKey = useQuery('pod')
  const like = useQuery('like')
  const wanted = useQuery('for')

  /** Its YAML, if it is not one of the cluster. */
  const text = computed(() => hypothesis.value.pod ?? '')
  const settled = refDebounced(text, pause)
  const parsed = computed(() => parseText(text.value))
  const entry = computed(() => parsed.value.entries.find((one) => one.kind === 'Pod'))
  const ref = computed(() => splitKey(podKey.value))
  const pod = computed(() =>
    ref.value ? pods.value.items.get(podKey.value) : (entry.value?.object as (KubeObject & Pod) | undefined)
  )
  const problem = computed(() => (ref.value ? undefined : parsed.value.problems[0]))

  const body = computed((): CapacityQuestion | undefined => {
    const rest = questionOf(withDecider({ changes: hypothesis.value.changes }, hypothesis.value), undefined)
    const count = Number(wanted.value)
    const needed =
      like.value && Number.isInteger(count) && count > 0 ? { nodesNeeded: { like: like.value, for: count } } : {}
    if (ref.value) return pod.value ? { podRef: ref.value, ...rest, ...needed } : undefined
    // The object rather than the text, which may hold further documents.
    return entry.value && !problem.value && settled.value === text.value
      ? { pod: entry.value.object as unknown as NonNullable<CapacityQuestion['pod']>, ...rest, ...needed }
      : undefined
  })
  const question = useQuestion(async (signal, asked: CapacityQuestion) => {
    const at = Date.now()
    return { ...(await askCapacity(asked, signal)), at }
  })
  const key = computed(() => (body.value ? JSON.stringify(body.value) : ''))
  watchDebounced(key, () => body.value && void question.ask(body.value), { debounce: 50, immediate: true })
  watch([podKey, text], ([pod, yaml]) => {
    if (!pod && !yaml) question.clear()
  })

  return {
    ...inURL,
    suppose,
    podKey,
    text,
    write: (pod: string) => suppose(pod ? { ...hypothesis.value, pod } : { changes: hypothesis.value.changes }, true),
    pod,
    problem,
    like,
    wanted,
    body,
    question,
  }
}
