// The first-run tour: three steps that the user completes by doing them. This browser remembers the end.

import { useStorage } from '@vueuse/core'
import { ref } from 'vue'

export type TourStep = 'sample' | 'pod' | 'decision'
export const tourSteps: readonly TourStep[] = ['sample', 'pod', 'decision']

/** Without storage, the tour starts again after a reload. */
const remembered = useStorage<'' | 'done'>('tour', '', undefined, { writeDefaults: false, listenToStorageChanges: false, onError: () => {} })

/** The current step; undefined without a tour. */
export const tourStep = ref<TourStep | undefined>(remembered.value === 'done' ? undefined : 'sample')

/** Moves on to the next step if `done` is the current one. */
export function advanceTour(done: TourStep): void {
  if (tourStep.value !== done) return
  const next = tourSteps[tourSteps.indexOf(done) + 1]
  if (next) tourStep.value = next
  else endTour()
}

export function endTour(): void {
  tourStep.value = undefined
  remembered.value = 'done'
}

/** Starts with the first step, or with the second if there are already nodes. */
export function startTour(hasNodes: boolean): void {
  tourStep.value = hasNodes ? 'pod' : 'sample'
}
