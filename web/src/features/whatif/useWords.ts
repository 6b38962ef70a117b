// The words for changes and suggestions in the user's language.

import { useI18n } from 'vue-i18n'
import type { AdviceManner, AdviceOmission, Suggestion } from '@/api/types'
import { useNames } from '@/i18n/names'
import { mannerPhrase, omissionPhrase, stepPhrases, type Phrase } from './model/advice'
import type { ChangedObject, Gist } from './model/changeFacts'

/** A suggestion as lines, one for each thing that it changes. */
export function useAdviceWords(): {
  lines: (suggestion: Suggestion) => string[]
  manner: (manner: AdviceManner) => string
  omission: (omission: AdviceOmission) => string
} {
  const { t } = useI18n()
  const names = useNames()
  const say = ({ key, values, count }: Phrase) => (count === undefined ? t(key, values) : t(key, values, count))
  return {
    lines: (suggestion) => suggestion.steps.flatMap((step) => stepPhrases(step, names)).map(say),
    manner: (manner) => say(mannerPhrase(manner)),
    omission: (omission) => say(omissionPhrase(omission)),
  }
}

/** What becomes of an object, in a few words. */
export function useGist(): (of: Pick<ChangedObject, 'gist' | 'target'>) => string {
  const { t } = useI18n()
  const value = (text: string) => text || t('whatif.gist.absent')
  const say = (gist: Gist, name: string): string => {
    switch (gist.kind) {
      case 'copies':
        return t('whatif.gist.copies', { n: gist.count, name })
      case 'label':
        return t('whatif.gist.label', { key: gist.key, from: value(gist.from), to: value(gist.to) })
      case 'value':
        return t('whatif.gist.value', { name: gist.name, from: value(gist.from), to: value(gist.to) })
      case 'fields':
        return t('whatif.gist.fields', { n: gist.count })
      default:
        return t(`whatif.gist.${gist.kind}`, { ...gist })
    }
  }
  return ({ gist, target }) => say(gist, target.name)
}
