// Unmounts what a test mounts when the test ends, because files share their modules: see
// vite.config.ts. A warning of Vue fails the test, because it tells of a mistake that a
// browser would hide. No server answers, unless a test plays one.

import { config, disableAutoUnmount, enableAutoUnmount } from '@vue/test-utils'
import { afterEach, expect } from 'vitest'

globalThis.fetch = () => Promise.reject(new TypeError('unit tests have no server'))

// The tests of the lint rules have no document.
if ('document' in globalThis) config.global.components = (await import('./base')).components

let warnings: string[] = []
config.global.config.warnHandler = (message) => warnings.push(message)

afterEach(() => {
  const said = warnings
  warnings = []
  expect(said, 'warnings of Vue').toEqual([])
})

disableAutoUnmount()
enableAutoUnmount(afterEach)
