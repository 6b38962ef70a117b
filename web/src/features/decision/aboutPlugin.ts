// What a plugin of Kubernetes does, in one sentence. The sentences load after the first page.

import { useI18n } from 'vue-i18n'
import { loadDeferredMessages } from '@/i18n/deferred'

/** Returns a function that is '' for other plugins, and until the sentences are loaded. */
export function useAboutPlugin(): (table: 'filter' | 'score', plugin: string) => string {
  const { t, te } = useI18n()
  // The panel of a cell loads them, too, and says so if they cannot be loaded.
  loadDeferredMessages().catch(() => undefined)
  return (table, plugin) => {
    const key = `cellPanel.${table}.${plugin}`
    return te(key, 'en') ? t(key) : ''
  }
}
