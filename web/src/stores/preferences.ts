// Theme and language: kept in this browser, applied to the document.

import { ref, watchEffect } from 'vue'

export type Theme = 'light' | 'dark' | 'system'
export type Language = 'en' | 'ja'

function read<T extends string>(key: string, allowed: readonly T[], otherwise: T): T {
  try {
    const value = localStorage.getItem(key)
    return allowed.find((a) => a === value) ?? otherwise
  } catch {
    return otherwise
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Storage can be switched off; the choice then lasts as long as the page.
  }
}

const preferred: Language = typeof navigator !== 'undefined' && navigator.language.startsWith('ja') ? 'ja' : 'en'

export const theme = ref<Theme>(read('theme', ['light', 'dark', 'system'], 'system'))
export const language = ref<Language>(read('language', ['en', 'ja'], preferred))

/** The theme as it is drawn: what `system` comes to now. */
export const drawnTheme = ref<'light' | 'dark'>('light')

/** Keeps <html> in step with the preferences. public/theme.js does the same before the first paint. */
export function applyPreferences(): void {
  const dark = window.matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    drawnTheme.value = theme.value === 'system' ? (dark.matches ? 'dark' : 'light') : theme.value
    document.documentElement.dataset.theme = drawnTheme.value
  }
  dark.addEventListener('change', apply)
  watchEffect(() => {
    apply()
    write('theme', theme.value)
  })
  watchEffect(() => {
    document.documentElement.lang = language.value
    write('language', language.value)
  })
}
