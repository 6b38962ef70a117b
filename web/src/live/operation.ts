// What the simulator's status reports besides the scheduler: a running import, reset or
// replay, the owner of the control plane, and the cluster that the simulator mirrors.

import { computed } from 'vue'
import { status } from './status'

export const operation = computed(() => status.value?.operation)
export const sync = computed(() => status.value?.sync)
/** The control plane does not belong to the simulator, so the page cannot reset it. */
export const external = computed(() => status.value?.controlPlane === 'external')
/** A recording is loaded, whether or not it is playing. */
export const recordingLoaded = computed(() => status.value?.replay === true)
