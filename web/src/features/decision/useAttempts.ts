// The attempts to schedule the pod in the URL: the one that is shown, and the one that it is compared with.

import { computed, watch, type ComputedRef, type ShallowRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { getAttempts } from '@/api/simulator'
import type { Pod, Summary } from '@/api/types'
import { useAnswer } from '@/live/answer'
import { useNewest } from '@/live/newest'
import { connection } from '@/live/status'
import { pods, results } from '@/live/watched'
import { useQuery } from '@/ui/query'

export interface Attempts {
  namespace: ComputedRef<string>
  name: ComputedRef<string>
  /** The pod that has this name now. */
  pod: ComputedRef<Pod | undefined>
  /** True once it is certain that the pod has no attempt. */
  missing: ComputedRef<boolean>
  /** Oldest first. */
  attempts: ComputedRef<readonly Summary[]>
  /** The attempt in the URL, by default the newest. */
  current: ComputedRef<Summary | undefined>
  /** The attempt in the URL is no longer stored. */
  gone: ComputedRef<boolean>
  /** The number in the URL; '' for the newest attempt. */
  wanted: ComputedRef<string>
  error: ShallowRef<unknown>
  comparedWith: ComputedRef<Summary | undefined>
  /** Shows an attempt. */
  choose(attempt: number): void
  showNewest(): void
  /** Compares the shown attempt with another one; '' ends the comparison. */
  compare(attempt: number | ''): void
  /** Swaps the two compared attempts. */
  swap(): void
}

export function useAttempts(): Attempts {
  const route = useRoute()
  const router = useRouter()
  const namespace = computed(() => String(route.params.namespace ?? ''))
  const name = computed(() => String(route.params.name ?? ''))
  const uidQuery = useQuery('uid')
  const attemptQuery = useQuery('attempt')
  const compareQuery = useQuery('compare')

  const pod = computed(() => pods.value.items.get(`${namespace.value}/${name.value}`))
  /**
   * The newest attempt of the pod with the uid in the URL; by default of the existing pod, or of
   * the last pod that had the name.
   */
  const { summary: newest, missing } = useNewest(
    computed(() => ({ namespace: namespace.value, name: name.value, uid: uidQuery.value || pod.value?.metadata.uid }))
  )
  const uid = computed(() => uidQuery.value || newest.value?.pod.uid || '')

  const { value: answer, error, ask, clear } = useAnswer(async (_signal, of: string) => (await getAttempts(of)).items)
  watch(
    [uid, () => connection.value.kind === 'live'],
    ([of], [before]) => {
      if (of !== before) clear()
      if (of) void ask(of)
    },
    { immediate: true }
  )
  const fetched = computed<readonly Summary[]>(() => answer.value ?? [])
  /** The fetched attempts, updated with live results. */
  const attempts = computed(() => {
    const all = new Map(fetched.value.map((s) => [s.attempt, s]))
    for (const s of results.value.items) if (s.pod.uid === uid.value) all.set(s.attempt, s)
    return [...all.values()].sort((a, b) => a.attempt - b.attempt)
  })
  const newestAttempt = computed(() => attempts.value.at(-1)?.attempt)
  const current = computed(() => {
    const wanted = Number(attemptQuery.value)
    return wanted ? attempts.value.find((a) => a.attempt === wanted) : attempts.value.at(-1)
  })
  const comparedWith = computed(() =>
    attempts.value.find((a) => a.attempt === Number(compareQuery.value) && a.attempt !== current.value?.attempt)
  )
  /** The URL of the newest attempt has no number, so that the page moves on to the next one. */
  const queryOf = (attempt: number) => (attempt === newestAttempt.value ? undefined : String(attempt))

  return {
    namespace,
    name,
    pod,
    missing,
    attempts,
    current,
    gone: computed(() => !!attemptQuery.value && attempts.value.length > 0 && !current.value),
    wanted: attemptQuery,
    error,
    comparedWith,
    choose(attempt) {
      const { compare } = route.query
      void router.push({
        query: {
          ...route.query,
          attempt: queryOf(attempt),
          compare: compare === String(attempt) ? undefined : compare,
        },
      })
    },
    showNewest() {
      attemptQuery.value = ''
    },
    compare(attempt) {
      compareQuery.value = String(attempt)
    },
    swap() {
      const other = comparedWith.value
      if (other && current.value)
        void router.replace({
          query: { ...route.query, attempt: queryOf(other.attempt), compare: String(current.value.attempt) },
        })
    },
  }
}
