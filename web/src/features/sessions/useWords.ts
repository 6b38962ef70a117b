// The sentences of the models in the language of the page.

import { useI18n } from 'vue-i18n'
import type { Words } from '@/kubernetes/sessionJob'

export function useWords(): Words {
  const { t } = useI18n()
  return (key, named) => (typeof named.n === 'number' ? t(key, named, named.n) : t(key, named))
}
