// What a plugin of Kubernetes does, in one sentence. The sentences load after the first page.

import { ref } from 'vue'
import { t, te } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'

/** Returns a function that is '' for other plugins, and undefined until the sentences are loaded. */
export function useAboutPlugin(): (table: 'filter' | 'score', plugin: string) => string | undefined {
  // `te` does not notice that messages are added.
  const loaded = ref(false)
  loadDeferredMessages().then(
    () => (loaded.value = true),
    // The panel of a cell loads them, too, and says so if that fails.
    () => undefined
  )
  return (table, plugin) => {
    const key = `cellPanel.${table}.${plugin}`
    if (!loaded.value) return undefined
    return te(key, 'en') ? t(key) : ''
  }
}
