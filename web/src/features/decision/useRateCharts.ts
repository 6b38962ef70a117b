// The charts of a range of time: cycles, bound pods, pending pods.

import { computed, type ComputedRef, type Ref } from 'vue'
import { t } from '@/i18n'
import { formatCount } from '@/i18n/numbers'
import { trim } from '@/kubernetes/quantity'
import { formatClock } from '@/kubernetes/time'
import { cluster } from '@/live/cluster'
import { condense, factsOf } from '@/live/rates'
import { now, pendingSamples } from '@/live/status'
import { model } from '@/live/watched'
import { perSecond, points, usualSpan } from './model/rates'
import type { Overview } from './useRates'

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
  const bounds = computed(() => overview.value ?? { since: now.value - usualSpan * 1000, until: now.value })
  const seconds = computed(() => Math.max(points, Math.round((bounds.value.until - bounds.value.since) / 1000)))
  const cyclesOf = (of: 'cycles' | 'bound') => {
    const found = overview.value
    return found?.counts.timeline ? perSecond(found.counts.timeline, of, found, found.counts.oldest) : []
  }
  const pending = computed(() => pendingSamples.series(Math.floor(bounds.value.until / 1000) + 1, seconds.value))
  /** Those in the range; the last is that of now if the range ends now. */
  const pendingShown = computed(() =>
    bounds.value.until > now.value - 60_000
      ? [...pending.value.slice(1), (void cluster.value, model.pendingCount)]
      : pending.value
  )
  /** The samples begin later than the range. */
  const sampledSince = computed(() =>
    pendingSamples.since !== undefined && pending.value[0] === undefined
      ? t('rates.recordedSince', { time: formatClock(new Date(pendingSamples.since * 1000).toISOString(), false) })
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
      note: t('rates.meanPeak', { mean: round(mean), peak: round(peak) }),
    }
  }
  return {
    seconds,
    charts: computed(() => [
      rateChart('cycles', cyclesOf('cycles'), 'var(--fill)', t('rates.cyclesPerSecond')),
      rateChart('bound', cyclesOf('bound'), 'var(--pass)', t('rates.boundPerSecond')),
      {
        id: 'pending',
        values: condense(pendingShown.value, Math.ceil(seconds.value / points)),
        colour: 'var(--warn)',
        figure: pendingShown.value.at(-1) === undefined ? '–' : formatCount(pendingShown.value.at(-1) ?? 0),
        unit: t('rates.pending'),
        note: [t('rates.peak', { peak: round(factsOf(pendingShown.value).peak) }), sampledSince.value]
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
