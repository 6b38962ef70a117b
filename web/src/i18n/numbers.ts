// Counts with thousands separators: 5,000 rather than 5000.

import { useI18n } from 'vue-i18n'

const format = new Intl.NumberFormat('en')

/** The format is the same in all our languages. */
export function formatCount(n: number): string {
  return format.format(n)
}

/** Arguments that identify something and count nothing. */
const identities: readonly string[] = ['seed']
const grouped = (value: unknown): unknown => (typeof value === 'number' && Number.isInteger(value) ? formatCount(value) : value)

/** The arguments of a translation, with each whole number as text: what is counted looks the same in every message. */
export function groupedArguments(args: readonly unknown[]): unknown[] {
  const [key, ...rest] = args
  const count = rest.find((value) => typeof value === 'number')
  const values = rest.find((value) => typeof value === 'object' && value !== null)
  const named = Array.isArray(values) ? values.map(grouped) : Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, identities.includes(name) ? value : grouped(value)]))
  if (count === undefined) return values ? [key, named, ...rest.filter((value) => value !== values)] : [...args]
  // A message calls its count n or count unless the caller names it.
  return [key, Array.isArray(named) ? named : { n: grouped(count), count: grouped(count), ...named }, ...rest.filter((value) => value !== values)]
}

/** A message with a count, such as "5,000 nodes", in the right plural form. */
export function useCounted(): (key: 'common.nodes' | 'common.pods', n: number) => string {
  const { t } = useI18n()
  return (key, n) => t(key, { n: formatCount(n) }, n)
}
