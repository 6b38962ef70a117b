// The words for changes and suggestions in the user's language.

import type { AdviceManner, AdviceOmission, Suggestion } from '@/api/types'
import { t } from '@/i18n'
import { names } from '@/i18n/names'
import { mannerPhrase, omissionPhrase, stepPhrases, type Phrase } from './model/advice'
import type { ChangedObject, Gist } from './model/changeFacts'

const phrase = ({ key, values, count }: Phrase) => (count === undefined ? t(key, values) : t(key, values, count))

/** A suggestion as lines, one for each thing that it changes. */
export const lines = (suggestion: Suggestion): string[] =>
  suggestion.steps.flatMap((step) => stepPhrases(step, names)).map(phrase)

export const manner = (of: AdviceManner): string => phrase(mannerPhrase(of))

export const omission = (of: AdviceOmission): string => phrase(omissionPhrase(of))

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

/** What becomes of an object, in a few words. */
export const gistOf = ({ gist, target }: Pick<ChangedObject, 'gist' | 'target'>): string => say(gist, target.name)
