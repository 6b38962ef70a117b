// What would become of the pod that is being typed: written by the create dialog, shown by
// the map behind it.

import { useLocalStorage } from '@vueuse/core'
import { ref, shallowRef } from 'vue'
import type { HypotheticalCycle, KubeObject } from '@/api/types'

export interface ShownPrediction {
  pod: KubeObject
  /** The names of the copies. */
  names: readonly string[]
  /** One for each copy that was decided. */
  cycles: readonly HypotheticalCycle[]
  /** The text has changed since, or cannot be asked about. */
  outdated: boolean
}

/** undefined while nothing is predicted. */
export const prediction = shallowRef<ShownPrediction>()
/** The user's choice: whether the map and the strip predict while a pod is typed. */
export const predicting = useLocalStorage('predict', true)
/** The page shows the map of the nodes. */
export const mapShown = ref(false)
/** The create dialog leaves room for the map beside it. */
export const besideMap = ref(false)
