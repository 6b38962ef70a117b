// What the simulator is at besides scheduling, as its status tells every page: an import, a
// reset, a replay; whose the control plane is; and the cluster that is followed.

import { computed } from 'vue'
import { status } from './status'

export const operation = computed(() => status.value?.operation)
export const sync = computed(() => status.value?.sync)
/** The control plane is somebody else's: it is not emptied from here. */
export const external = computed(() => status.value?.controlPlane === 'external')
/** A recording is loaded, whether or not it plays. */
export const recordingLoaded = computed(() => status.value?.replay === true)
