// A list of names as text, cut short when there are many.

import { useI18n } from 'vue-i18n'

/** "a, b, c" or "a, b, c, 7 more": at most `most` items, the count being one of them. */
export function useNames(): (names: readonly string[], most?: number) => string {
  const { t } = useI18n()
  return (names, most = 4) => {
    const shown =
      names.length > most ? [...names.slice(0, most - 1), t('common.more', { n: names.length - most + 1 })] : names
    return shown.join(t('common.separator'))
  }
}
