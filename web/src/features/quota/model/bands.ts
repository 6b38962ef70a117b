// The bands of the drawing of a pool: what flows in on the left and out on the right.

import type { Flow, Pool } from './quotas'

/** Positions are from the top, in pixels. */
export interface Band {
  /** The namespace; '' for all others together. */
  name: string
  /** How many others. */
  more: number
  amount: number
  /** What no quota borrows. */
  free: boolean
  size: number
  /** At the outer edge, where bands are apart, and at the pool, where they are not. */
  at: number
  pool: number
}

export interface Bands {
  lenders: readonly Band[]
  takers: readonly Band[]
  /** Pixels per unit; 0 when nothing is unused and nothing is borrowed. */
  scale: number
  /** Of the pool. */
  height: number
}

/** The smallest ones of more bands than this become one. */
const mostBands = 4
/** Labels need this much room between the beginnings of two bands. */
const labelled = 32

export function bandsOf(pool: Pool, height: number): Bands {
  const takers: (Flow & { free?: true })[] = [...pool.borrowers]
  const most = Math.max(pool.unused, pool.borrowed)
  const lenders = folded(pool.lenders)
  const borrowers = folded(takers)
  const free = pool.unused - pool.borrowed
  const all = free > 0 ? [...borrowers, { name: '', more: 0, amount: free, free: true }] : borrowers
  const rows = Math.max(lenders.length, all.length)
  const room = Math.max(20, height - Math.max(0, rows - 1) * (labelled - 12) - 16)
  const scale = most > 0 ? room / most : 0
  return { lenders: laid(lenders, scale, height), takers: laid(all, scale, height), scale, height: most * scale }
}

type Part = Pick<Band, 'name' | 'more' | 'amount' | 'free'>

function folded(flows: readonly Flow[]): Part[] {
  const whole = flows.map(({ namespace, amount }): Part => ({ name: namespace, more: 0, amount, free: false }))
  if (whole.length <= mostBands) return whole
  const rest = whole.slice(mostBands - 1)
  return [
    ...whole.slice(0, mostBands - 1),
    { name: '', more: rest.length, amount: rest.reduce((sum, { amount }) => sum + amount, 0), free: false },
  ]
}

function laid(parts: readonly Part[], scale: number, height: number): Band[] {
  let at = 0
  let inPool = 0
  return parts.map((part) => {
    const size = part.amount * scale
    const band = { ...part, size, at: Math.min(at, height - Math.min(size, height)), pool: inPool }
    at += Math.max(size + 8, labelled)
    inPool += size
    return band
  })
}
