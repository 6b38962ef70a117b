// Counts in messages and templates.

import { trim } from '@/kubernetes/quantity'

export const formatCount = (n: number): string => trim(n, 3)

/** Arguments that identify something and count nothing. */
const identities: readonly string[] = ['seed']
const isLarge = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && Math.abs(value) >= 1000
const grouped = (value: unknown): unknown => (isLarge(value) ? formatCount(value) : value)

/**
 * The arguments of a translation, with each whole number from 1,000 as text: what is counted
 * looks the same in every message. It runs for every text of a page, so it copies only what
 * it changes.
 */
export function groupedArguments(args: readonly unknown[]): readonly unknown[] {
  const count = args.find(isLarge)
  const values = args.find((value, at) => at > 0 && typeof value === 'object' && value !== null) as object | undefined
  if (count === undefined && (!values || !Object.values(values).some(isLarge))) return args
  const others = args.filter((value, at) => at > 0 && value !== values)
  if (Array.isArray(values)) return [args[0], values.map(grouped), ...others]
  const named = Object.fromEntries(
    Object.entries(values ?? {}).map(([name, value]) => [name, identities.includes(name) ? value : grouped(value)])
  )
  // A message calls its count n or count unless the caller names it.
  return [
    args[0],
    count === undefined ? named : { n: formatCount(count), count: formatCount(count), ...named },
    ...others,
  ]
}
