// The recording as the scrubber shows it: its steps and counts on an axis that follows the present.

import { useDocumentVisibility, useIntervalFn } from '@vueuse/core'
import { computed, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { getTimeline, type Step, type Timeline } from '@/api/timeline'
import { useAnswer } from '@/live/answer'
import { useQuery } from '@/ui/query'
import { axisOf, zooms, type Axis } from './model/axis'

/** The recording grows, so it is asked for again this often while the page is visible (ms). */
const pace = 2000
/** The number of intervals of the axis. */
export const intervals = 200
const mostSteps = 1000

export interface Recording {
  recording: ShallowRef<Timeline | undefined>
  error: ShallowRef<unknown>
  ask: () => Promise<boolean>
  /** Oldest first. */
  steps: ComputedRef<readonly Step[]>
  axis: ComputedRef<Axis>
  /** In seconds, as text; '0' is all. */
  zoom: Ref<string>
}

/** `at` is the time of the playhead in ms; undefined in the present. While `held`, the axis does not move. */
export function useRecording(at: Ref<number | undefined>, held: Ref<boolean>): Recording {
  const zoom = useQuery<string>('zoom', '0', zooms.map(String))
  const {
    value: recording,
    error,
    ask,
  } = useAnswer((signal, span?: Axis) =>
    getTimeline(
      {
        buckets: intervals,
        limit: mostSteps,
        ...(span ? { from: new Date(span.from).toISOString(), to: new Date(span.to).toISOString() } : {}),
      },
      signal
    )
  )
  const whole = computed(() => {
    const { start, end } = recording.value ?? {}
    // A recording of a real cluster ends in its own past; the simulator's own goes on until now.
    const last = end && recording.value?.source ? Date.parse(end) : Date.now()
    return { start: start ? Date.parse(start) : last, end: last }
  })
  const wanted = computed(() => axisOf({ ...whole.value, zoom: Number(zoom.value), at: at.value }))
  const axis = shallowRef(wanted.value)
  watch([wanted, held], () => {
    if (!held.value) axis.value = wanted.value
  })
  const again = () => ask(Number(zoom.value) ? wanted.value : undefined)
  const visible = useDocumentVisibility()
  useIntervalFn(() => visible.value === 'visible' && !held.value && void again(), pace, { immediateCallback: true })
  watch(zoom, () => void again())
  return {
    recording,
    error,
    ask: again,
    steps: computed(() => recording.value?.steps ?? []),
    axis: computed(() => axis.value),
    zoom,
  }
}
