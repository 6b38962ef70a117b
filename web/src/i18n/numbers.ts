// Counts with thousands separators: 5,000 rather than 5000.

import { useI18n } from 'vue-i18n'

const format = new Intl.NumberFormat('en')

/** The format is the same in all our languages. */
export function formatCount(n: number): string {
  return format.format(n)
}

/** A message with a count, such as "5,000 nodes", in the right plural form. */
export function useCounted(): (key: 'common.nodes' | 'common.pods', n: number) => string {
  const { t } = useI18n()
  return (key, n) => t(key, { n: formatCount(n) }, n)
}
