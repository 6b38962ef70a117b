// The charts of a range of time: cycles, bound pods, pending pods.

import { computed, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { formatCount } from '@/i18n/numbers'
import { trim } from '@/kubernetes/quantity'
import { formatClock } from '@/kubernetes/time'
import { cluster } from '@/live/cluster'
import { condense, factsOf } from '@/live/rates'
import { now, pendingSamples } from '@/live/status'
import { model } from '@/live/watched'
import { perSecond, points, usualSpan } from './model/history'
import type { Overview } from './useHistory'

export interface RateChart {
  id: string
  values: (number | undefined)[]
  colour: string
  figure: string
  unit: string
  note: string
}

/** The number beside a chart is the mean of this many points, at the end of the range. */
const lately = 2

const round = (value: number) =>
  value >= 1000 ? formatCount(Math.round(value)) : trim(value, value > 0 && value < 1 ? 2 : 1)

/** axis: the labels at the start, the middle and the end. */
export function useRateCharts(overview: Ref<Overview | undefined>): {
  charts: ComputedRef<RateChart[]>
  axis: ComputedRef<string[]>
  seconds: ComputedRef<number>
} {
  const { t } = useI18n()
  const bounds = computed(() => overview.value ?? { since: now.value - usualSpan * 1000, until: now.value })
  const seconds = computed(() => Math.max(points, Math.round((bounds.value.until - bounds.value.since) / 1000)))
  const cyclesOf = (of: 'cycles' | 'bound') => {
    const found = overview.value
    return found?.counts.timeline ? perSecond(found.counts.timeline, of, found, found.counts.oldest) : []
  }
  const pending = computed(() => pendingSamples.series(Math.floor(bounds.value.until / 1000) + 1, seconds.value))
  const pendingNow = computed(() => (void cluster.value, model.pendingCount))
  /** The range ends now. */
  const live = computed(() => bounds.value.until > now.value - 60_000)
  /** The samples begin later than the range. */
  const sampledSince = computed(() =>
    pendingSamples.since !== undefined && pending.value[0] === undefined
      ? t('activity.recordedSince', { time: formatClock(new Date(pendingSamples.since * 1000).toISOString(), false) })
      : ''
  )

  function rateChart(id: string, values: (number | undefined)[], colour: string, unit: string): RateChart {
    const { mean, peak } = factsOf(values)
    return {
      id,
      values,
      colour,
      figure: round(factsOf(values.slice(-lately)).mean),
      unit,
      note: t('activity.meanPeak', { mean: round(mean), peak: round(peak) }),
    }
  }
  return {
    seconds,
    charts: computed(() => [
      rateChart('cycles', cyclesOf('cycles'), 'var(--fill)', t('activity.cyclesPerSecond')),
      rateChart('bound', cyclesOf('bound'), 'var(--pass)', t('activity.boundPerSecond')),
      {
        id: 'pending',
        values: condense(pending.value, Math.ceil(seconds.value / points)),
        colour: 'var(--warn)',
        figure: formatCount(pendingNow.value),
        unit: t('activity.pending'),
        note: [
          t('activity.peak', {
            peak: round(factsOf([...pending.value, live.value ? pendingNow.value : undefined]).peak),
          }),
          sampledSince.value,
        ]
          .filter(Boolean)
          .join(t('common.separator')),
      },
    ]),
    axis: computed(() =>
      [bounds.value.since, (bounds.value.since + bounds.value.until) / 2, bounds.value.until].map((ms) =>
        formatClock(new Date(ms).toISOString(), false)
      )
    ),
  }
}
