// What would happen under a hypothesis, and what does without it: two questions, because a
// comparison with the recorded attempt would also show what has changed since.

import { computed, shallowRef, watch, type Ref } from 'vue'
import { askWhatIf } from '@/api/whatif'
import type { AdviceOmission, HypotheticalCycle, HypotheticalState, PodRef, SchedulerTurn } from '@/api/types'
import { isEmpty, noHypothesis, questionOf, type Hypothesis } from '@/features/whatif/model/hypothesis'
import type { NotAsked } from '@/features/whatif/model/notAsked'
import { useQuestion } from '@/features/whatif/useQuestion'

export interface Tried extends NotAsked {
  hypothesis: Hypothesis
  cycle: HypotheticalCycle
  /** The same question without the hypothesis; the cycle itself if there is none. */
  without: HypotheticalCycle
  state: HypotheticalState
  /** What new nodes may bring and nobody can say, where it may be why the pod finds no node. */
  notCounted?: readonly AdviceOmission[]
  /** What a scheduler that decides about all of its pods at once did; undefined for kube-scheduler. */
  turn: SchedulerTurn | undefined
  /** When it was asked (ms since the epoch). */
  at: number
}

export type Trial = ReturnType<typeof useTrial>

/** Asks as long as `wanted` is true. */
export function useTrial(
  pod: Ref<Pick<PodRef, 'namespace' | 'name'> | undefined>,
  hypothesis: Ref<Hypothesis>,
  wanted: Ref<boolean>
) {
  /** The answer without a hypothesis, for the pod of this key. */
  const plain = shallowRef<{ key: string; cycle: HypotheticalCycle }>()
  const keyOf = () => (pod.value ? `${pod.value.namespace}/${pod.value.name}` : '')

  async function ask(signal: AbortSignal, supposed: Hypothesis) {
    const {
      decisions: [cycle],
      turn,
      ...rest
    } = await askWhatIf(questionOf(supposed, pod.value), signal)
    if (!cycle) throw new Error('the answer has no decision')
    return { ...rest, cycle, turn }
  }
  const {
    value: tried,
    loading,
    busy,
    failure,
    ask: question,
    again,
    clear,
  } = useQuestion(async (signal, supposed: Hypothesis): Promise<Tried> => {
    const key = keyOf()
    const at = Date.now()
    const answer = await ask(signal, supposed)
    if (isEmpty(supposed)) plain.value = { key, cycle: answer.cycle }
    else if (plain.value?.key !== key) plain.value = { key, cycle: (await ask(signal, noHypothesis)).cycle }
    return { hypothesis: supposed, ...answer, without: plain.value?.cycle ?? answer.cycle, at }
  })
  watch(
    [keyOf, hypothesis, wanted],
    ([key, supposed, isWanted], [before]) => {
      if (key !== before) {
        plain.value = undefined
        clear()
      }
      if (key && isWanted) void question(supposed)
      else clear()
    },
    { immediate: true }
  )
  return {
    /** undefined until there is an answer for the pod; it stays while the next one is asked for. */
    tried,
    loading,
    busy,
    failure,
    again() {
      plain.value = undefined
      again()
    },
    outdated: computed(() => !!tried.value && tried.value.hypothesis !== hypothesis.value),
  }
}
