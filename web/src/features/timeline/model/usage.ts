// How the room of the cluster was used over time, as rows of the time line.

import type { Usage } from '@/api/timeline'
import { partOf, type Axis } from './axis'

/** The track of one number over time. */
export interface UsageRow {
  /** cpu, memory or another resource; or what is not one. */
  id: string
  kind: 'resource' | 'fragmentation' | 'pending'
  /** Oldest first; values from 0 to `most`, undefined where it is unknown. */
  values: { at: number; value: number | undefined }[]
  most: number
}

/** More would leave no room for the map. */
const mostResources = 4

/** CPU, memory and the other resources that are used most, in percent; then fragmentation and pending pods. */
export function usageRows(samples: readonly Usage[]): UsageRow[] {
  const last = new Map(samples.flatMap(({ resources }) => Object.entries(resources)))
  const shareOf = (name: string) => percent(last.get(name))
  const own = ['cpu', 'memory']
  const others = [...last.keys()]
    .filter((name) => !own.includes(name))
    .sort((a, b) => (shareOf(b) ?? 0) - (shareOf(a) ?? 0) || (a < b ? -1 : 1))
  const row = (id: string, kind: UsageRow['kind'], valueOf: (sample: Usage) => number | undefined): UsageRow => {
    const values = samples.map((sample) => ({ at: Date.parse(sample.time), value: valueOf(sample) }))
    const peak = Math.max(1, ...values.map(({ value }) => value ?? 0))
    // Nodes that went away can leave more than everything requested.
    return { id, kind, values, most: kind === 'pending' ? peak : Math.max(100, peak) }
  }
  return [
    ...[...own, ...others]
      .filter((name) => last.has(name))
      .slice(0, mostResources)
      .map((name) => row(name, 'resource', ({ resources }) => percent(resources[name]))),
    row('fragmentation', 'fragmentation', ({ fragmentation }) =>
      fragmentation === undefined ? undefined : fragmentation * 100
    ),
    row('pending', 'pending', ({ pending }) => pending),
  ]
}

const percent = (of: Usage['resources'][string] | undefined) =>
  of && of.allocatable > 0 ? (of.requested / of.allocatable) * 100 : undefined

/** The value at a time: that of the sample before it. */
export const valueAt = ({ values }: UsageRow, at: number): number | undefined =>
  values.findLast((one) => one.at <= at)?.value

/** A path that holds each value until the next sample, in a box of 1000 by `height`. */
export function usagePath({ values, most }: UsageRow, axis: Axis, height: number): string {
  let path = ''
  values.forEach(({ at, value }, i) => {
    if (value === undefined) return
    const [x, end] = [at, values[i + 1]?.at ?? axis.to].map((time) => (partOf(axis, time) * 1000).toFixed(1))
    const y = (height - 0.5 - (value / most) * (height - 1.5)).toFixed(1)
    path += `${path && values[i - 1]?.value !== undefined ? `V${y}` : `M${x} ${y}`}H${end}`
  })
  return path
}
