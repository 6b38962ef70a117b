// Operations of the simulator besides scheduling, as its status reports them: an import, a
// reset, a replay; the owner of the control plane; and the cluster that it follows.

import { computed } from 'vue'
import { status } from './status'

export const operation = computed(() => status.value?.operation)
export const sync = computed(() => status.value?.sync)
/** The simulator does not own the control plane, so it cannot be emptied from here. */
export const external = computed(() => status.value?.controlPlane === 'external')
/** A recording is loaded, whether or not it is playing. */
export const recordingLoaded = computed(() => status.value?.replay === true)
