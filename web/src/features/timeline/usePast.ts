// The moments that the page shows: the one at the playhead, and the one that it is compared with.

import {
  computed,
  onScopeDispose,
  watch,
  watchEffect,
  type ComputedRef,
  type Ref,
  type ShallowRef,
  type WritableComputedRef,
} from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { getMoment, getMomentOfDecision, type Moment } from '@/api/timeline'
import { mapChange, type MapChange } from '@/features/cluster/model/change'
import { clusterOf, type ClusterView } from '@/kubernetes/cluster'
import { cluster } from '@/live/cluster'
import { useAnswer } from '@/live/answer'
import { showsPast } from '@/live/shownMoment'
import { useQuery } from '@/ui/query'

export interface Past {
  /** A moment's number or a time (RFC 3339), as in the URL; '' is now. */
  at: ComputedRef<string>
  /** The moment A of a difference; '' when none is shown. */
  from: WritableComputedRef<string>
  /** The past is shown: a moment, or the difference to one. */
  past: ComputedRef<boolean>
  /** What is loaded; it stays while the next one is loading. */
  moment: ShallowRef<Moment | undefined>
  base: ShallowRef<Moment | undefined>
  error: ComputedRef<unknown>
  loading: Ref<boolean>
  /** The state that the map shows: at the moment, or now. */
  view: ComputedRef<ClusterView>
  /** The state A. */
  before: ComputedRef<ClusterView | undefined>
  change: ComputedRef<MapChange | undefined>
  /** The time of the playhead (ms); undefined in the present. */
  time: ComputedRef<number | undefined>
  go(at: string): void
  retry(): void
}

/** Kept, so that going back and forth between a few moments asks once. */
const kept = 6

export function usePast(): Past {
  const route = useRoute()
  const router = useRouter()
  const at = useQuery('at')
  const from = useQuery('from')
  const known = new Map<string, Moment>()
  async function read(signal: AbortSignal, wanted: string): Promise<Moment> {
    const found = known.get(wanted) ?? (await getMoment(wanted, signal))
    known.delete(wanted)
    known.set(wanted, found)
    for (const old of known.keys()) {
      if (known.size <= kept) break
      known.delete(old)
    }
    return found
  }
  const shown = useAnswer(read)
  const base = useAnswer(read)
  watch(at, (wanted) => (wanted ? void shown.ask(wanted) : shown.clear()), { immediate: true })
  watch(from, (wanted) => (wanted ? void base.ask(wanted) : base.clear()), { immediate: true })

  // A link from a decision names it, and the server knows what its scheduler saw.
  const seen = useQuery('decision')
  const seeing = useAnswer((signal, uid: string, attempt: number) => getMomentOfDecision(uid, attempt, signal), {
    dropOnError: true,
  })
  watch(
    seen,
    async (wanted) => {
      const [uid = '', attempt = ''] = wanted.split('/')
      if (!uid || at.value) return seeing.clear()
      if (await seeing.ask(uid, Number(attempt) || 1)) if (seeing.value.value) at.value = seeing.value.value.time
    },
    { immediate: true }
  )

  const past = computed(() => !!at.value || !!from.value)
  watchEffect(() => (showsPast.value = past.value))
  onScopeDispose(() => (showsPast.value = false))

  const built = new WeakMap<Moment, ClusterView>()
  const viewOf = (moment: Moment) => {
    const view = built.get(moment) ?? clusterOf(moment.nodes, moment.pods)
    built.set(moment, view)
    return view
  }
  const view = computed(() => (at.value && shown.value.value ? viewOf(shown.value.value) : cluster.value))
  const before = computed(() => (from.value && base.value.value ? viewOf(base.value.value) : undefined))
  return {
    at,
    from,
    past,
    moment: shown.value,
    base: base.value,
    error: computed(() => seeing.error.value ?? shown.error.value ?? base.error.value),
    loading: computed(() => shown.loading.value || base.loading.value || seeing.loading.value),
    view,
    before,
    change: computed(() => before.value && mapChange(before.value, view.value)),
    time: computed(() => {
      if (!at.value) return undefined
      const asked = Date.parse(at.value)
      // A number is a moment, which has its time once it is loaded.
      if (!/^\d+$/.test(at.value) && !Number.isNaN(asked)) return asked
      return shown.value.value && Date.parse(shown.value.value.time)
    }),
    go(wanted) {
      // Entering and leaving the past are steps of the browser's history; moving in it is not.
      const query = {
        ...route.query,
        at: wanted || undefined,
        decision: undefined,
        ...(wanted ? {} : { from: undefined }),
      }
      void (!!wanted === !!at.value ? router.replace({ query }) : router.push({ query }))
    },
    retry() {
      known.clear()
      if (at.value) void shown.ask(at.value)
      if (from.value) void base.ask(from.value)
    },
  }
}
