// Whether the page shows the past, which can be looked at, but not changed.

import { shallowRef } from 'vue'

export const showsPast = shallowRef(false)
