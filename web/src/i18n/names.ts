// A list of names as text, cut short when there are many.

import { t } from './index'

/** "a, b, c" or "a, b, c, 7 more": at most `most` items, the count being one of them. */
export function names(all: readonly string[], most = 4): string {
  const shown = all.length > most ? [...all.slice(0, most - 1), t('common.more', { n: all.length - most + 1 })] : all
  return shown.join(t('common.separator'))
}
