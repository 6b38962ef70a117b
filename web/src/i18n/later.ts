// Words that come with what needs them, so that the first page does not wait for them.

import { defineAsyncComponent, type Component } from 'vue'
import { i18n } from './index'

let loading: Promise<void> | undefined

/** Adds the later words of both languages; once is enough. */
export function loadLater(): Promise<void> {
  loading ??= Promise.all([import('./en/later'), import('./ja/later')]).then(
    ([en, ja]) => {
      i18n.global.mergeLocaleMessage('en', en.later)
      i18n.global.mergeLocaleMessage('ja', ja.later)
    },
    (error: unknown) => {
      loading = undefined
      throw error
    },
  )
  return loading
}

/** Loads a component together with the later words. */
export function withLater<T extends Component>(load: () => Promise<{ default: T }>): () => Promise<T> {
  return async () => (await Promise.all([load(), loadLater()]))[0].default
}

/** A component that comes when it is first shown, with the later words. */
export function laterComponent<T extends Component>(load: () => Promise<{ default: T }>) {
  return defineAsyncComponent(withLater(load) as () => Promise<Component>) as unknown as T
}
