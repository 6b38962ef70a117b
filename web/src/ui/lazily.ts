// Parts of the application that load when they are first needed. They are also loaded while
// the browser is idle, so that every part is there when the server is away.

import { promiseTimeout } from '@vueuse/core'
import { t } from '@/i18n'
import { notify } from './notices'

const left = new Set<() => Promise<unknown>>()

/** The delay before loading a part again (ms), and how often: for five minutes. */
const retryAfter = 2000
const tries = 150

/**
 * Registers a part. A call in a component does so only when the component is first shown, so a part
 * with a file of its own needs one where a module loads. The result loads the part; if that fails, it
 * tells the user, and tries again until the server responds.
 */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  left.add(load)
  return async () => {
    for (let n = 1; ; n++) {
      try {
        const part = await load()
        left.delete(load)
        return part
      } catch (error) {
        if (n === 1) notify('failed', t('common.partMissing'))
        if (n >= tries) throw error
        await promiseTimeout(retryAfter)
      }
    }
  }
}

/**
 * Loads the parts that are not loaded yet, one after the other, each after idle resolves. A
 * part that fails is left for the next call. Loading a part may register further ones, which
 * are loaded, too.
 */
export async function preload(idle: () => Promise<void>): Promise<void> {
  for (const load of left) {
    await idle()
    // The user is told when the part is needed.
    await load().then(
      () => left.delete(load),
      () => {}
    )
  }
}

/** Whether the user asks websites to load no more than what is needed. Not every browser says so. */
export function savesData(): boolean {
  return (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true
}

/** Resolves when the browser has nothing else to do. */
export function whenIdle(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve(), { timeout: 2000 })
    else setTimeout(resolve, 200)
  })
}
