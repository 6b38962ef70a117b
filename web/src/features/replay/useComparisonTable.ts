// The table that compares the replay's decisions with the recorded ones.

import { computed } from 'vue'
import type { Replay } from '@/api/replay'
import { t } from '@/i18n'
import { useQuery } from '@/ui/query'
import { formatShare, matchShare } from './model/replayDecisions'
import { replay } from './store/replay'
import { useReplayDecisions } from './store/replayDecisions'
import { useComparedRows } from './useComparedRows'

export type ComparisonTable = ReturnType<typeof useComparisonTable>

const nothing: Replay['decisions'] = { compared: 0, matching: 0, different: 0, pending: 0, tied: 0 }

export function useComparisonTable() {
  const shown = useQuery('outcome', 'different', ['different', 'matching', 'pending', 'all'])
  const view = useReplayDecisions(computed(() => (shown.value === 'all' ? '' : shown.value)))
  const counts = computed(() => replay.value?.decisions ?? nothing)

  return {
    compared: useComparedRows(view.items, 'time'),
    shown,
    options: computed(() => [
      ...(['different', 'matching', 'pending'] as const).map((value) => ({
        value,
        label: t(`replay.outcome.${value}`, { n: counts.value[value] }),
      })),
      { value: 'all' as const, label: t('replay.outcome.all') },
    ]),
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
    counts,
    /** The percentage of compared decisions that match. */
    percent: computed(() => formatShare(matchShare(counts.value) ?? 0)),
    view,
  }
}
