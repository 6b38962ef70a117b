// The user's language: stored in this browser and set on the document.

import { useStorage } from '@vueuse/core'
import { watchEffect } from 'vue'

export type Language = 'en' | 'ja'
const languages: readonly Language[] = ['en', 'ja']

const preferred: Language = typeof navigator !== 'undefined' && navigator.language.startsWith('ja') ? 'ja' : 'en'
const read = (text: string) => languages.find((l) => l === text) ?? preferred

/** Without storage, the choice lasts as long as the page. */
export const language = useStorage<Language>('language', preferred, undefined, {
  serializer: { read, write: String },
  listenToStorageChanges: false,
  onError: () => {},
})

/** Updates <html>. public/theme.js does the same before the first paint. */
export function applyLanguage(): void {
  watchEffect(() => {
    document.documentElement.lang = language.value
  })
}
