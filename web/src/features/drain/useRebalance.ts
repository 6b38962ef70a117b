// The policy, which is in the page's address; the answer; and carrying it out.

import { useDebounceFn } from '@vueuse/core'
import { computed, ref, watch } from 'vue'
import { parse } from 'yaml'
import { ApiError } from '@/api/http'
import { playScenario } from '@/api/play'
import type { DescheduleAnswer } from '@/api/types'
import { askDeschedule } from '@/api/whatif'
import { enterNew } from '@/features/branch/store/branches'
import { useQuestion } from '@/features/whatif/useQuestion'
import { t } from '@/i18n'
import { connection } from '@/live/status'
import { notify } from '@/ui/notices'
import { useQuery } from '@/ui/query'
import { useAttempt } from '@/ui/useAttempt'
import { rebalanceOf, rebalanceScenario, tried, variantsOf, type Tried } from './model/rebalance'

/** What is typed changes the question a moment later (ms). */
const pause = 600

export function useRebalance() {
  const policy = useQuery('policy')
  const rounds = useQuery('rounds')
  /** A new workspace carries the policy out that it was made for. */
  const run = useQuery<'yes' | ''>('run')
  const text = ref(policy.value)
  const keep = useDebounceFn(() => (policy.value = text.value), pause)
  watch(text, keep)
  watch(policy, (now) => now !== text.value && (text.value = now))

  const asked = computed(() => rebalanceOf({ policy: policy.value, rounds: rounds.value }))
  const question = useQuestion((signal, body: Parameters<typeof askDeschedule>[0]) => askDeschedule(body, signal), {
    dropOnError: true,
  })
  const ask = () => void (asked.value ? question.ask(asked.value) : question.clear())
  watch(() => JSON.stringify(asked.value ?? null), ask, { immediate: true })
  /** The policies that are asked about after an answer, one after the other; a new answer ends that. */
  const others = useQuestion(async (signal, now: DescheduleAnswer) => {
    const out: Tried[] = []
    for (const variant of variantsOf(policy.value, now)) {
      const body = rebalanceOf({ policy: variant.policy, rounds: rounds.value })
      if (body) out.push(tried(variant, await askDeschedule(body, signal), now))
    }
    return out
  })
  watch(question.value, (now) => {
    others.clear()
    if (now && variantsOf(policy.value, now).length) void others.ask(now)
  })
  /** The mistakes of the policy, at their lines. */
  const problems = computed(() => {
    const { value: error } = question.failure
    if (!(error instanceof ApiError) || policy.value !== text.value) return []
    return error.problems.map(({ line, column, message }) => ({
      line: line || 1,
      ...(column ? { column } : {}),
      message,
    }))
  })

  const { busy, error, attempt } = useAttempt()
  const running = ref(false)
  const carryOut = () =>
    attempt(async () => {
      if (!asked.value) return
      running.value = true
      try {
        await playScenario(rebalanceScenario(parse(asked.value.policy) as object, asked.value.rounds), () => undefined)
        notify('done', t('drain.rebalance.carried'))
      } finally {
        running.value = false
        ask()
      }
    })
  watch(
    () => run.value === 'yes' && connection.value.kind === 'live',
    (now) => {
      if (!now) return
      run.value = ''
      void carryOut()
    },
    { immediate: true }
  )
  const inWorkspace = () =>
    attempt(async () => {
      const query = new URLSearchParams({ view: 'rebalance', policy: policy.value, run: 'yes' })
      if (rounds.value) query.set('rounds', rounds.value)
      await enterNew({ title: t('drain.rebalance.workspaceTitle') }, `drain?${query}`)
    })

  return { text, rounds, asked, question, others, problems, ask, busy, error, running, carryOut, inWorkspace }
}
