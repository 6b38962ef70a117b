// The light or dark theme: stored in this browser and set on the document.

import { useStorage } from '@vueuse/core'
import { ref, watchEffect } from 'vue'

export type Theme = 'light' | 'dark' | 'system'
export const themes: readonly Theme[] = ['light', 'dark', 'system']

const read = (text: string) => themes.find((t) => t === text) ?? 'system'

/** Without storage, the choice lasts as long as the page. */
export const theme = useStorage<Theme>('theme', 'system', undefined, {
  serializer: { read, write: String },
  listenToStorageChanges: false,
  onError: () => {},
})

/** The theme in use: for `system`, the one of the operating system. */
export const drawnTheme = ref<'light' | 'dark'>('light')

/** Updates <html>. public/theme.js does the same before the first paint. */
export function applyTheme(): void {
  const dark = window.matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    drawnTheme.value = theme.value === 'system' ? (dark.matches ? 'dark' : 'light') : theme.value
    document.documentElement.dataset.theme = drawnTheme.value
  }
  dark.addEventListener('change', apply)
  watchEffect(apply)
}
