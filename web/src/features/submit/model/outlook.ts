// The picture of a ClusterQueue in virtual time: where lanes begin and end, and the steps of what is in reach.

import type { SubmitLane, SubmitOutlook, SubmitReach } from '@/api/types'
import { parseQuantity } from '@/kubernetes/quantity'

/** Of the width of the axis, in percent. */
export interface Span {
  from: number
  to: number
}

export interface Axis {
  now: number
  until: number
}

export const axisOf = (at: string, { until }: Pick<SubmitOutlook, 'until'>): Axis => {
  const now = Date.parse(at)
  return { now, until: Math.max(now + 1000, Date.parse(until)) }
}

export const placeOf = ({ now, until }: Axis, at: number): number =>
  Math.min(100, Math.max(0, ((at - now) / (until - now)) * 100))

/** Round times for the axis, about as many as are wanted, without those whose text would run into that of now. */
export function ticksOf({ now, until }: Axis, wanted = 4): number[] {
  const minute = 60_000
  const steps = [1 / 12, 1 / 4, 1 / 2, 1, 2, 5, 10, 15, 30, 60, 120, 240, 720, 1440, 2880, 10080].map((n) => n * minute)
  const step = steps.find((one) => (until - now) / one <= wanted) ?? 10080 * minute
  const ticks: number[] = []
  for (let at = Math.ceil(now / step) * step; at < until; at += step) {
    if (placeOf({ now, until }, at) > 22 && placeOf({ now, until }, at) < 96) ticks.push(at)
  }
  return ticks
}

/** Where the end of one that runs, or the start of one that waits, lies; nothing if it is not known. */
export function spanOf(axis: Axis, { earliest, latest }: Pick<SubmitLane, 'earliest' | 'latest'>): Span | undefined {
  if (!earliest) return undefined
  return { from: placeOf(axis, Date.parse(earliest)), to: latest ? placeOf(axis, Date.parse(latest)) : 100 }
}

export interface Steps {
  /** The middle run as a line, and the band of eight of ten runs as an area. */
  median: string
  band: string
  /** The top of the drawing, in the resource's unit. */
  top: number
  needs: number
  now: number
}

/** Steps in a drawing of the given size, y down. */
export function stepsOf(axis: Axis, reach: SubmitReach, width: number, height: number): Steps {
  const needs = parseQuantity(reach.needs)
  const points = reach.points.map(({ at, low, median, high }) => ({
    x: (placeOf(axis, Date.parse(at)) / 100) * width,
    low: parseQuantity(low),
    median: parseQuantity(median),
    high: parseQuantity(high),
  }))
  const top = Math.max(needs, ...points.map(({ high }) => high), 1e-9) * 1.15
  const y = (value: number) => Math.round((1 - value / top) * height * 10) / 10
  const round = (x: number) => Math.round(x * 10) / 10
  const last = points.length === reach.points.length && points.length > 1 ? width : 0
  const line = (of: 'low' | 'median' | 'high') =>
    points.map((point, i) => `${i ? 'H' : 'M'}${round(point.x)}${i ? 'V' : ' '}${y(point[of])}`).join('') + `H${last}`
  const back = [...points]
    .reverse()
    .map((point) => `V${y(point.low)}H${round(point.x)}`)
    .join('')
  return { median: line('median'), band: `${line('high')}${back}Z`, top, needs, now: points[0]?.median ?? 0 }
}
