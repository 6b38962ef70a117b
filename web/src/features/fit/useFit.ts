// What would make a pod fit: asked again for each new attempt, as long as the pod is pending.

import { watch, type Ref } from 'vue'
import { askFit } from '@/api/whatif'
import type { FitAnswer, PodRef } from '@/api/types'
import { useQuestion, type Question } from '@/features/whatif/useQuestion'
import { connection } from '@/live/status'

export interface FitSubject {
  pod: Pick<PodRef, 'namespace' | 'name'>
  /** Only on this node; '' for any. */
  node: string
  /** Asked again when it changes. */
  attempt: number
}

export function useFit(subject: Ref<FitSubject | undefined>): Question<FitAnswer, [FitSubject]> {
  const question = useQuestion(
    (signal, { pod, node }: FitSubject) =>
      askFit({ podRef: { namespace: pod.namespace, name: pod.name }, ...(node ? { node } : {}) }, signal),
    { dropOnError: true }
  )
  watch(
    [() => JSON.stringify(subject.value), () => connection.value.kind === 'live'],
    ([key], [before]) => {
      if (key !== before) question.clear()
      if (subject.value) void question.ask(subject.value)
    },
    { immediate: true }
  )
  return question
}
