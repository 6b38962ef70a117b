// The charts of the last minutes: cycles, bound pods, pending pods.

import { computed, type ComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { formatCount } from '@/i18n/numbers'
import { trim } from '@/kubernetes/quantity'
import { formatClock } from '@/kubernetes/time'
import { cluster } from '@/live/cluster'
import { condense, factsOf } from '@/live/rates'
import { now, pendingSamples } from '@/live/status'
import { model, rates, results } from '@/live/watched'

export interface RateChart {
  id: string
  values: (number | undefined)[]
  colour: string
  figure: string
  unit: string
  note: string
}

/** The time span of the charts, in seconds. */
export const span = 300
/** The number beside a chart is the mean of this many seconds. */
const lately = 5
/** Seconds per point of a chart. */
const perPoint = 3

const round = (value: number) => trim(value, value > 0 && value < 1 ? 2 : 1)

/** axis: the labels at the start, the middle and the end. */
export function useRateCharts(): { charts: ComputedRef<RateChart[]>; axis: ComputedRef<string[]> } {
  const { t } = useI18n()
  const second = computed(() => Math.floor(now.value / 1000))
  const perSecond = computed(() => {
    void results.value
    const { cycles, bound } = rates.series(second.value, span)
    const from = rates.from ?? second.value
    const known = (values: number[]) => values.map((v, i) => (second.value - span + i >= from ? v : undefined))
    return { cycles: known(cycles), bound: known(bound) }
  })
  const pending = computed(() => pendingSamples.series(second.value + 1, span))
  const pendingNow = computed(() => (void cluster.value, model.pendingCount))

  function rateChart(id: string, perSecond: readonly (number | undefined)[], colour: string, unit: string): RateChart {
    const values = condense([...perSecond], perPoint)
    const { mean, peak } = factsOf(values)
    return { id, values, colour, figure: round(factsOf(perSecond.slice(-lately)).mean), unit, note: t('activity.meanPeak', { mean: round(mean), peak: round(peak) }) }
  }
  return {
    charts: computed(() => [
      rateChart('cycles', perSecond.value.cycles, 'var(--fill)', t('activity.cyclesPerSecond')),
      rateChart('bound', perSecond.value.bound, 'var(--pass)', t('activity.boundPerSecond')),
      { id: 'pending', values: condense(pending.value, perPoint), colour: 'var(--warn)', figure: formatCount(pendingNow.value), unit: t('activity.pending'), note: t('activity.peak', { peak: round(factsOf(pending.value).peak) }) },
    ]),
    axis: computed(() => [span, span / 2, 0].map((ago) => formatClock(new Date((second.value - ago) * 1000).toISOString(), false))),
  }
}
