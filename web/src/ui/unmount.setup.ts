// Unmounts what a test mounts when the test ends, because files share their modules: see
// vite.config.ts.

import { disableAutoUnmount, enableAutoUnmount } from '@vue/test-utils'
import { afterEach } from 'vitest'

disableAutoUnmount()
enableAutoUnmount(afterEach)
