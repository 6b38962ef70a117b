// All messages of the application, in both languages.

import { watchEffect } from 'vue'
import { createI18n } from 'vue-i18n'
import { language } from './language'
import { en } from './en'
import { ja } from './ja'

export const i18n = createI18n({
  legacy: false,
  locale: language.value,
  fallbackLocale: 'en',
  // kubectl writes <none>, which is text, not HTML.
  warnHtmlMessage: false,
  messages: { en, ja },
})

watchEffect(() => {
  i18n.global.locale.value = language.value
})
