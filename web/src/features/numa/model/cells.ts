// A resource of a NUMA node as cells: what the system keeps, what is taken, what the pod's
// parts get or ask for, what is free, and what is missing.

import { unitOf } from '@/kubernetes/quantity'
import type { ZoneAmount } from './topology'

export interface CellRun {
  /** part: laid in. asks: a part that fits no zone asks for it. short: it asks for more than there is. */
  kind: 'system' | 'taken' | 'part' | 'asks' | 'free' | 'short'
  /** The index of the part; −1 for other kinds. */
  part: number
  cells: number
}

export interface Cells {
  runs: readonly CellRun[]
  /** How much a cell stands for, in base units. */
  step: number
}

export interface Laid {
  part: number
  amount: number
}

/** Not many more cells than this are drawn for a resource of a zone. */
const mostCells = 24
const gibi = 2 ** 30

/** A step that is easy to count: 1, 2, 5, 10 and so on; for bytes 1, 2, 4 Gi and so on. */
export function stepOf(resource: string, capacity: number): number {
  const base = unitOf(resource) === 'bytes' ? (capacity >= gibi ? gibi : 2 ** 20) : 1
  const factors =
    unitOf(resource) === 'bytes'
      ? Array.from({ length: 24 }, (_, i) => 2 ** i)
      : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
  return base * (factors.find((factor) => capacity / (base * factor) <= mostCells) ?? factors.at(-1) ?? 1)
}

/**
 * `laid` are the parts that get the zone. If they are bound there, they are part of what is
 * taken already. `asks` is what a part asks for that fits no zone.
 */
export function cellsOf(
  amount: ZoneAmount,
  { laid = [], bound = false, asks = 0 }: { laid?: readonly Laid[]; bound?: boolean; asks?: number }
): Cells {
  const step = stepOf(amount.resource, amount.capacity)
  const own = laid.reduce((sum, one) => sum + one.amount, 0)
  const system = Math.max(0, amount.capacity - amount.allocatable)
  const taken = Math.max(0, amount.allocatable - amount.available - (bound ? own : 0))
  const left = Math.max(0, amount.available - (bound ? 0 : own))
  const asked = Math.min(asks, left)
  const amounts: { kind: CellRun['kind']; part: number; value: number }[] = [
    { kind: 'system', part: -1, value: system },
    { kind: 'taken', part: -1, value: taken },
    ...laid.map(({ part, amount: value }) => ({ kind: 'part' as const, part, value })),
    { kind: 'asks', part: -1, value: asked },
    { kind: 'free', part: -1, value: left - asked },
    { kind: 'short', part: -1, value: Math.max(0, asks - left) },
  ]
  // The ends of the runs are rounded, not their lengths, so that the cells add up. Whatever is not
  // nothing has a cell.
  const runs: CellRun[] = []
  let end = 0
  let drawn = 0
  for (const { kind, part, value } of amounts) {
    end += value / step
    const cells = value > 0 ? Math.max(1, Math.round(end) - drawn) : 0
    if (cells) runs.push({ kind, part, cells })
    drawn += cells
  }
  return { runs, step }
}
