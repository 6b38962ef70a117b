// The sentences of the models in the language of the page.

import { t } from '@/i18n'
import type { Words } from '@/kubernetes/sessionJob'

export const words: Words = (key, named) => (typeof named.n === 'number' ? t(key, named, named.n) : t(key, named))
