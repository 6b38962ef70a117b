// All messages of the application, in both languages.

import { watchEffect } from 'vue'
import { createI18n } from 'vue-i18n'
import { language } from './language'
import { groupedArguments } from './numbers'
import { en, ja } from './words'

export const i18n = createI18n({
  legacy: false,
  locale: language.value,
  fallbackLocale: 'en',
  // kubectl writes <none>, which is text, not HTML.
  warnHtmlMessage: false,
  messages: { en, ja },
})

const translate = i18n.global.t as (...args: unknown[]) => string
i18n.global.t = ((...args: unknown[]) => translate(...groupedArguments(args))) as typeof i18n.global.t

/** A text in the user's language, and whether there is one. Where the page reads it, it follows the language. */
export const { t, te } = i18n.global

watchEffect(() => {
  i18n.global.locale.value = language.value
})
