// The hypothesis of a page, which is part of its URL, so that a link shares it.

import { computed, shallowRef, watch } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { useTurns } from '@/live/answer'
import { isEmpty, noHypothesis, type Hypothesis } from './model/hypothesis'
import { decodeHypothesis, encodeHypothesis } from './model/link'

export type HypothesisInURL = ReturnType<typeof useHypothesis>

const name = 'try'

export function useHypothesis() {
  const route = useRoute()
  const router = useRouter()
  const hypothesis = shallowRef<Hypothesis>(noHypothesis)
  /** Whether a link can hold it. */
  const tooLarge = shallowRef(false)
  const unreadable = shallowRef(false)
  const turns = useTurns()
  /** The code that stands for the current hypothesis. */
  let written = ''

  /**
   * Supposes something else. The URL follows a moment later: as a step of the history, unless the
   * user is typing.
   */
  async function suppose(next: Hypothesis, typing = false) {
    const signal = turns.next()
    hypothesis.value = next
    unreadable.value = false
    const code = isEmpty(next) && next.pod === undefined ? '' : await encodeHypothesis(next)
    if (signal.aborted) return
    tooLarge.value = code === undefined
    if ((code ?? '') === written) return
    written = code ?? ''
    const to = { query: { ...route.query, [name]: written || undefined } }
    void (typing ? router.replace(to) : router.push(to))
  }

  watch(
    () => (typeof route.query[name] === 'string' ? route.query[name] : ''),
    async (code) => {
      if (code === written) return
      const signal = turns.next()
      written = code
      const read = code ? await decodeHypothesis(code) : noHypothesis
      if (signal.aborted) return
      unreadable.value = !read
      tooLarge.value = false
      hypothesis.value = read ?? noHypothesis
    },
    { immediate: true }
  )

  return {
    hypothesis,
    suppose: (next: Hypothesis, typing?: boolean) => void suppose(next, typing),
    discard: () => void suppose(noHypothesis),
    supposed: computed(() => !isEmpty(hypothesis.value)),
    tooLarge,
    unreadable,
  }
}
