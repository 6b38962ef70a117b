// The words for misconceptions.

import { useI18n } from 'vue-i18n'
import { isKnown } from './model/progress'

/** A teacher's own misconception has no other words than its ID, and none that explain it. */
export function useMisconceptions(): { titleOf: (id: string) => string; textOf: (id: string) => string } {
  const { t } = useI18n()
  return {
    titleOf: (id) => (isKnown(id) ? t(`learn.misconception.${id}.title`) : id.replace(/-/g, ' ')),
    textOf: (id) => (isKnown(id) ? t(`learn.misconception.${id}.text`) : ''),
  }
}
