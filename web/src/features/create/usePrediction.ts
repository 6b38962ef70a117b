// The prediction while a pod is typed: asked a moment after each change; the last answer
// stays, marked as outdated, while the text cannot be asked about.

import { useThrottleFn, useTimeoutFn } from '@vueuse/core'
import { computed, onScopeDispose, watch } from 'vue'
import { ApiError } from '@/api/http'
import { askFit, askWhatIf } from '@/api/whatif'
import type { Problem } from '@/features/yaml/model/documents'
import { prediction, predicting } from '@/features/whatif/store/prediction'
import { useQuestion } from '@/features/whatif/useQuestion'
import { nodes, pods } from '@/live/watched'
import { placedOf, questionOfText, type Prediction, type TextQuestion } from './model/prediction'
import { copies, draft } from './store/create'
import type { DraftEntries } from './useDraftEntries'

/** Why an answer is not one to the text as it is. */
export type Outdated = { why: 'asking' } | { why: 'problem'; problem: Problem } | { why: 'refused'; message: string }

export type TypedPrediction = ReturnType<typeof usePrediction>

/** The user pauses this long before a question is sent (ms). */
const pause = 350
/** How often the same question is asked again while the cluster changes (ms). */
const renewEvery = 3000

const keyOf = ({ question, names }: TextQuestion) => JSON.stringify([question, names])

export function usePrediction(content: Pick<DraftEntries, 'parsed' | 'made' | 'entries'>) {
  const problem = computed(() => content.parsed.value.problems[0])
  const asked = computed(() => {
    // The entries are a function of these.
    void [draft.value, copies.value, content.made.value]
    return problem.value ? undefined : questionOfText(content.entries())
  })
  const question = useQuestion(async (signal, of: TextQuestion): Promise<Prediction> => {
    const at = Date.now()
    const { decisions } = await askWhatIf(of.question, signal)
    return { ...of, cycles: decisions, at }
  })
  const { value, loading, busy, failure } = question
  const fit = useQuestion(
    (signal, of: TextQuestion) =>
      askFit(
        {
          pod: of.question.pod as NonNullable<typeof of.question.pod>,
          ...(of.question.changes ? { changes: of.question.changes } : {}),
          limit: 1,
        },
        signal
      ),
    { dropOnError: true }
  )

  const soon = useTimeoutFn(() => asked.value && void question.ask(asked.value), pause, { immediate: false })
  watch(
    [() => asked.value && keyOf(asked.value), predicting],
    ([key, on]) => {
      soon.stop()
      if (!on) question.clear()
      else if (key !== undefined) soon.start()
      // Only a text that can be read says that there is no pod.
      else if (!problem.value) question.clear()
    },
    { immediate: true }
  )
  const renew = useThrottleFn(
    () => value.value && !loading.value && !soon.isPending.value && asked.value && void question.ask(asked.value),
    renewEvery,
    true
  )
  watch([nodes, pods], () => void renew())
  watch(value, (found) => {
    if (found && !placedOf(found.cycles) && !found.cycles.some((cycle) => cycle.nominatedNode)) void fit.ask(found)
    else fit.clear()
  })

  const refused = computed(() =>
    failure.value instanceof ApiError && failure.value.code >= 400 && failure.value.code < 500
      ? failure.value
      : undefined
  )
  /** undefined while the answer is one to the text. */
  const outdated = computed((): Outdated | undefined => {
    if (problem.value) return { why: 'problem', problem: problem.value }
    if (refused.value && !loading.value)
      return { why: 'refused', message: [refused.value.message, ...refused.value.details].join('\n') }
    return asked.value && value.value && keyOf(asked.value) !== keyOf(value.value) ? { why: 'asking' } : undefined
  })
  /** The newest answer. */
  const answer = computed(() => (predicting.value ? value.value : undefined))
  watch(
    [answer, outdated],
    ([found, old]) =>
      (prediction.value = found && { pod: found.pod, names: found.names, cycles: found.cycles, outdated: !!old }),
    { immediate: true }
  )
  onScopeDispose(() => (prediction.value = undefined))

  return {
    wanted: computed(() => predicting.value && (!!asked.value || !!value.value)),
    answer,
    outdated,
    busy,
    failure: computed(() => (refused.value ? undefined : failure.value)),
    again: question.again,
    suggestion: computed(() => fit.value.value?.suggestions[0]),
  }
}
