// Messages that load with the components that need them, so that the first page does not
// wait for them.

import { defineAsyncComponent, type Component } from 'vue'
import { i18n } from './index'

let loading: Promise<void> | undefined

/** Adds the deferred messages of both languages; further calls return the same promise. */
export function loadDeferredMessages(): Promise<void> {
  loading ??= import('./deferredWords').then(
    ({ en, ja }) => {
      i18n.global.mergeLocaleMessage('en', en)
      i18n.global.mergeLocaleMessage('ja', ja)
    },
    (error: unknown) => {
      loading = undefined
      throw error
    }
  )
  return loading
}

/** Loads a component together with the deferred messages. */
export function withDeferredMessages<T extends Component>(load: () => Promise<{ default: T }>): () => Promise<T> {
  return async () => (await Promise.all([load(), loadDeferredMessages()]))[0].default
}

/** A component that loads when it is first shown, together with the deferred messages. */
export function deferredComponent<T extends Component>(load: () => Promise<{ default: T }>) {
  return defineAsyncComponent(withDeferredMessages(load) as () => Promise<Component>) as unknown as T
}
