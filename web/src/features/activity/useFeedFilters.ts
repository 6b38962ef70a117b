// The filters of the feed, kept in the URL.

import { computed, type ComputedRef, type Ref, type WritableComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import type { Summary } from '@/api/types'
import { feedOutcomes, type FeedOutcome } from '@/features/decision/model/firstReason'
import type { Option } from '@/ui/option'
import { useQuery } from '@/ui/query'
import { countOutcomes, feedRows, filterFeed, valuesOf, type FeedRow } from './model/feed'

export interface FeedFilters {
  feed: WritableComputedRef<'cycles' | 'events'>
  text: WritableComputedRef<string>
  outcome: WritableComputedRef<FeedOutcome | 'all'>
  profile: WritableComputedRef<string>
  namespace: WritableComputedRef<string>
  rows: ComputedRef<FeedRow[]>
  /** Each outcome, with the number of cycles that match the other filters. */
  chips: ComputedRef<{ value: FeedOutcome | 'all'; icon: string; label: string; count: number }[]>
  profiles: ComputedRef<Option[]>
  namespaces: ComputedRef<Option[]>
  clear(): void
}

const icons = { scheduled: 'check', unschedulable: 'x', preempted: 'pin', waiting: 'clock', error: 'bang' } as const

export function useFeedFilters(items: Ref<readonly Summary[]>): FeedFilters {
  const { t } = useI18n()
  const router = useRouter()
  const feed = useQuery<'cycles' | 'events'>('feed', 'cycles', ['cycles', 'events'])
  const text = useQuery('q')
  const outcome = useQuery<FeedOutcome | 'all'>('outcome', 'all', ['all', ...feedOutcomes])
  const profile = useQuery('profile')
  const namespace = useQuery('namespace')

  const narrowed = computed(() =>
    filterFeed(items.value, { outcome: 'all', profile: profile.value, namespace: namespace.value, text: text.value })
  )
  const counts = computed(() => countOutcomes(narrowed.value))
  /** Includes the URL's value even if no item has it now. */
  const choices = (all: string, values: string[], current: string): Option[] => [
    { value: '', label: all },
    ...(current && !values.includes(current) ? [current, ...values] : values).map((value) => ({ value, label: value })),
  ]

  return {
    feed,
    text,
    outcome,
    profile,
    namespace,
    rows: computed(() =>
      feedRows(
        outcome.value === 'all'
          ? narrowed.value
          : filterFeed(narrowed.value, { outcome: outcome.value, profile: '', namespace: '', text: '' })
      )
    ),
    chips: computed(() => [
      { value: 'all' as const, icon: '', label: t('common.all'), count: narrowed.value.length },
      ...feedOutcomes.map((value) => ({
        value,
        icon: icons[value],
        label: t(`activity.outcome.${value}`),
        count: counts.value[value],
      })),
    ]),
    profiles: computed(() =>
      choices(
        t('activity.allProfiles'),
        valuesOf(items.value, (s) => s.profile),
        profile.value
      )
    ),
    namespaces: computed(() =>
      choices(
        t('activity.allNamespaces'),
        valuesOf(items.value, (s) => s.pod.namespace),
        namespace.value
      )
    ),
    clear() {
      void router.replace({ query: feed.value === 'cycles' ? {} : { feed: feed.value } })
    },
  }
}
