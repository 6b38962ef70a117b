// The table that compares the replay's decisions with the recorded ones. Filters, sort order and
// the open row are kept in the URL.

import { computed, type ComputedRef, type WritableComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import type { Replay, ReplayDecision } from '@/api/replay'
import { formatCount } from '@/i18n/numbers'
import type { TableColumn } from '@/ui/DataTable.vue'
import type { Option } from '@/ui/option'
import { useQuery } from '@/ui/query'
import { decisionKey, filterDecisions, formatShare, matchShare, sortDecisions, type Why } from './model/replayDecisions'
import { reasonText } from './model/reason'
import { replay } from './store/replay'
import { useReplayDecisions, type ReplayDecisionsView } from './store/replayDecisions'

type Shown = 'different' | 'matching' | 'pending' | 'all'

export interface ComparisonTable {
  text: WritableComputedRef<string>
  shown: WritableComputedRef<Shown>
  options: ComputedRef<Option<Shown>[]>
  sort: WritableComputedRef<string>
  columns: ComputedRef<TableColumn[]>
  rows: ComputedRef<readonly ReplayDecision[]>
  /** The key of the open decision; '' for none. */
  select: WritableComputedRef<string>
  opened: ComputedRef<ReplayDecision | undefined>
  toggle(decision: ReplayDecision): void
  /** The reason of a decision in the user's language. */
  why: Why
  /** The number of decisions with each outcome. */
  counts: ComputedRef<Replay['decisions']>
  /** The percentage of compared decisions that match. */
  percent: ComputedRef<string>
  /** The loaded pages. */
  view: ReplayDecisionsView
}

const nothing: Replay['decisions'] = { compared: 0, matching: 0, different: 0, pending: 0, tied: 0 }

export function useComparisonTable(): ComparisonTable {
  const { t } = useI18n()
  const text = useQuery('q')
  const shown = useQuery<Shown>('outcome', 'different', ['different', 'matching', 'pending', 'all'])
  const sort = useQuery<string>('sort', 'time')
  const select = useQuery('select')
  const view = useReplayDecisions(computed(() => (shown.value === 'all' ? '' : shown.value)))
  const why: Why = (d) => reasonText(d.reason, (key, values) => t(key, values))
  const rows = computed(() => sortDecisions(filterDecisions(view.items.value, text.value, why), sort.value, why))
  const opened = computed(() => rows.value.find((d) => decisionKey(d) === select.value))
  const counts = computed(() => replay.value?.decisions ?? nothing)

  return {
    text,
    shown,
    options: computed(() => [
      ...(['different', 'matching', 'pending'] as const).map((value) => ({
        value,
        label: t(`replay.outcome.${value}`, { n: formatCount(counts.value[value]) }),
      })),
      { value: 'all' as const, label: t('replay.outcome.all') },
    ]),
    sort,
    columns: computed(() => [
      { id: 'time', label: t('replay.colTime'), width: '92px' },
      { id: 'pod', label: t('replay.colPod'), width: 'minmax(130px, 1.2fr)' },
      ...(shown.value === 'all'
        ? [{ id: 'outcome', label: t('replay.colOutcome'), width: '116px', sortable: false }]
        : []),
      { id: 'recorded', label: t('replay.colRecorded'), width: 'minmax(86px, .8fr)' },
      { id: 'simulated', label: t('replay.colSimulated'), width: 'minmax(86px, .8fr)' },
      { id: 'why', label: t('replay.colWhy'), width: 'minmax(180px, 2.4fr)', optional: true },
    ]),
    rows,
    select,
    opened,
    why,
    toggle(decision) {
      const key = decisionKey(decision)
      select.value = select.value === key ? '' : key
    },
    counts,
    percent: computed(() => formatShare(matchShare(counts.value) ?? 0)),
    view,
  }
}
