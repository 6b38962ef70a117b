// A search over all decisions that the server keeps: it follows the URL and new decisions.

import { useThrottleFn } from '@vueuse/core'
import { computed, ref, shallowRef, watch } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { listResults, type ResultsQuery } from '@/api/simulator'
import type { Counts } from '@/api/types'
import { useTurns } from '@/live/answer'
import { connection } from '@/live/status'
import { results } from '@/live/watched'
import {
  askFor,
  current,
  extended,
  isNarrowed,
  refreshed,
  searchFields,
  searchOf,
  type Loaded,
  type Search,
} from './model/search'

export type DecisionSearch = ReturnType<typeof useDecisionSearch>

const pageSize = 200
/**
 * While decisions stream in, the search is repeated this often (ms); less often when the server
 * reads whole decisions for it.
 */
const refreshEvery = 1000
const refreshReadEvery = 10_000

export function useDecisionSearch() {
  const route = useRoute()
  const router = useRouter()
  const search = computed(() => searchOf(route.query))
  const key = computed(() => JSON.stringify(search.value))

  const loaded = shallowRef<Loaded>({ items: [], next: '', read: 0 })
  /** Counts of all decisions that match; undefined before the first answer. */
  const counts = shallowRef<Counts>()
  const error = shallowRef<unknown>()
  /** The search that `loaded` answers. */
  const answered = ref('')
  /** While held, new decisions are counted but not listed. */
  const held = ref(false)
  const listed = ref(0)
  const turns = useTurns()
  const olderTurns = useTurns()
  const loadingOlder = ref(false)
  /** The ends of the range at the newest answer, for the older pages. */
  let asked: ResultsQuery = {}
  let wentOlder = false

  async function load(): Promise<void> {
    const of = key.value
    const isNew = of !== answered.value
    if (isNew) olderTurns.end()
    const signal = turns.next()
    const query = askFor(search.value, Date.now())
    const onlyCount = held.value && !isNew
    try {
      const page = await listResults({ ...query, counts: true, limit: onlyCount ? 1 : pageSize }, signal)
      if (signal.aborted) return
      counts.value = page.counts
      error.value = undefined
      if (onlyCount) return
      asked = query
      if (isNew) wentOlder = false
      loaded.value = isNew
        ? { items: page.items, next: page.continue, read: page.read ?? 0 }
        : refreshed(loaded.value, page)
      listed.value = page.counts?.matching ?? 0
      answered.value = of
    } catch (reason) {
      // What is listed stays when only its repetition failed.
      if (!signal.aborted && (isNew || connection.value.kind === 'live')) error.value = reason
    }
  }

  watch(
    [key, () => connection.value.kind === 'live', held],
    ([of], [before]) => {
      if (of !== before) held.value = false
      if (!held.value) void load()
    },
    { immediate: true }
  )
  const refresh = useThrottleFn(
    () => void load(),
    () => (search.value.rejectedOn ? refreshReadEvery : refreshEvery),
    true
  )
  watch(results, () => {
    // A page that the server had to read may be empty, so it would not reach down to what is loaded.
    if (!(search.value.rejectedOn && wentOlder)) void refresh()
  })

  const hasOlder = computed(() => answered.value === key.value && loaded.value.next !== '')
  async function loadOlder(): Promise<void> {
    if (loadingOlder.value || !hasOlder.value) return
    const signal = olderTurns.next()
    loadingOlder.value = true
    try {
      const page = await listResults({ ...asked, limit: pageSize, continue: loaded.value.next }, signal)
      if (signal.aborted) return
      loaded.value = extended(loaded.value, page)
      wentOlder = true
    } catch (reason) {
      if (!signal.aborted) error.value = reason
    } finally {
      loadingOlder.value = false
    }
  }

  const replace = (query: Record<string, string | undefined>) =>
    void router.replace({ query: { ...route.query, ...query } })
  return {
    search,
    narrowed: computed(() => isNarrowed(search.value)),
    set: (change: Partial<Search>) =>
      replace(Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value || undefined]))),
    clear: () => replace(Object.fromEntries(searchFields.map((name) => [name, undefined]))),
    /** The loaded decisions, newest first. */
    items: computed(() => current(loaded.value.items, results.value.items, search.value.outcome)),
    counts,
    /** The newest search is not answered yet. */
    searching: computed(() => answered.value !== key.value && !error.value),
    error,
    /** The number of decisions that the server read, if it had to. */
    read: computed(() => loaded.value.read),
    hasOlder,
    loadingOlder,
    loadOlder,
    held,
    /** The number of matching decisions that arrived while held. */
    fresh: computed(() =>
      held.value && !search.value.rejectedOn ? Math.max(0, (counts.value?.matching ?? 0) - listed.value) : 0
    ),
  }
}
