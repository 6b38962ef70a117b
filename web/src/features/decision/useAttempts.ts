// The attempts to schedule the pod in the URL: the one that is shown, and the one that it is compared with.

import { computed, watch } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { getAttempts } from '@/api/simulator'
import type { Summary } from '@/api/types'
import { useAnswer } from '@/live/answer'
import { useNewest } from '@/live/newest'
import { connection } from '@/live/status'
import { pods, results } from '@/live/watched'
import { useQuery } from '@/ui/query'

export type Attempts = ReturnType<typeof useAttempts>

export function useAttempts() {
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
  /** The attempt in the URL, by default the newest. */
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
    /** True once it is certain that the pod has no attempt. */
    missing,
    attempts,
    current,
    gone: computed(() => !!attemptQuery.value && attempts.value.length > 0 && !current.value),
    /** The number in the URL; '' for the newest attempt. */
    wanted: attemptQuery,
    error,
    comparedWith,
    choose(attempt: number) {
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
    /** Compares the shown attempt with another one; '' ends the comparison. */
    compare(attempt: number | '') {
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
