// What a configuration would change, asked whenever it changes. A newer question replaces an older
// one. The server answers in steps, so that each answer comes soon.

import { tryOnScopeDispose, useTimeoutFn } from '@vueuse/core'
import { computed, ref, shallowRef, watch, type Ref } from 'vue'
import { ApiError } from '@/api/http'
import type { ShadowDraftAnswer } from '@/api/types'
import { judgeDraft } from '@/api/whatif'

export interface Judgement extends ShadowDraftAnswer {
  /** The text that was judged. */
  document: string
  /** When the answer came (ms). */
  at: number
  /** How long it took (ms). */
  took: number
}

/** How many decisions of the past a configuration is judged by. */
export const lastDecisions = 200
/** The server is asked when the user has not typed for this long (ms). */
const pause = 300
/** How long the server judges before it answers with what it has (ms); each further step takes twice as long. */
const firstStep = 150
const longestStep = 9600
const busyWait = 2000
/** When the cluster changes all the time, the server never gets far: it is asked again ever later (ms). */
const firstRest = 5000

/**
 * `text` is what to judge; undefined while there is nothing to ask about. `running` is the
 * configuration that it is judged against: an answer about an earlier one says nothing.
 */
export function useJudgement(text: Ref<string | undefined>, running: Ref<unknown>) {
  const value = shallowRef<Judgement>()
  const failure = shallowRef<unknown>()
  const asking = ref(false)
  let current: { controller: AbortController; document: string; step: number } | undefined

  const soon = useTimeoutFn(() => now(), pause, { immediate: false })
  const again = useTimeoutFn(() => now(true), busyWait, { immediate: false })
  const rest = ref(firstRest)
  const later = useTimeoutFn(() => text.value !== undefined && void run(text.value, longestStep), rest, {
    immediate: false,
  })
  function end() {
    soon.stop()
    again.stop()
    later.stop()
    current?.controller.abort()
    current = undefined
    asking.value = false
  }
  /** Asks at once; a first step is left to end, so that answers come while the user drags. */
  function now(anew = false) {
    soon.stop()
    again.stop()
    if (text.value === undefined || (!anew && current?.document === text.value)) return
    if (current && current.step === firstStep && asking.value) return
    later.stop()
    rest.value = firstRest
    current?.controller.abort()
    void run(text.value)
  }
  async function run(document: string, step = firstStep) {
    const own = { controller: new AbortController(), document, step }
    current = own
    asking.value = true
    for (;;) {
      const began = Date.now()
      try {
        const answer = await judgeDraft(document, lastDecisions, own.step, own.controller.signal)
        if (current !== own) return
        failure.value = undefined
        value.value = { ...answer, document, at: Date.now(), took: Date.now() - began }
        if (text.value !== undefined && text.value !== document) return void run(text.value)
        if (answer.complete) break
        if (own.step >= longestStep) {
          later.start()
          rest.value *= 2
          break
        }
      } catch (error) {
        if (current !== own) return
        // The verdict on the text says what is wrong with it.
        const code = error instanceof ApiError ? error.code : 0
        if (text.value !== undefined && text.value !== document) return void run(text.value)
        if (code === 429 || code === 503) again.start()
        else if (code !== 422) failure.value = error
        break
      }
      own.step *= 2
    }
    asking.value = false
  }
  watch(
    text,
    (document) => {
      if (document === undefined) return end()
      if (document !== value.value?.document || !value.value.complete) soon.start()
    },
    { immediate: true }
  )
  watch(running, () => {
    end()
    value.value = undefined
    if (text.value !== undefined) soon.start()
  })
  tryOnScopeDispose(end)
  return {
    value,
    failure,
    asking,
    /** The answer is about another text, as of a moment ago. */
    stale: computed(() => !!value.value && value.value.document !== text.value),
    now,
    again: () => now(true),
  }
}

export type JudgementView = ReturnType<typeof useJudgement>
