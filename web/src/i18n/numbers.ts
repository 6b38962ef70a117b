// Counts as people read them: 5,000 rather than 5000.

import { useI18n } from 'vue-i18n'

const format = new Intl.NumberFormat('en')

/** The same in every language that we have. */
export function formatCount(n: number): string {
  return format.format(n)
}

/** A message with a count in it, such as "5,000 nodes", in the plural that the count wants. */
export function useCounted(): (key: 'common.nodes' | 'common.pods', n: number) => string {
  const { t } = useI18n()
  return (key, n) => t(key, { n: formatCount(n) }, n)
}
