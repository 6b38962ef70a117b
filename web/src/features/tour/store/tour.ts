// The tour: its current step, which survives a reload, and its end, which this browser remembers.

import { useStorage } from '@vueuse/core'
import { computed, ref } from 'vue'
import { branchName } from '@/api/base'
import { tourSteps, type TourStep } from '../model/steps'

/** '' before the first step is taken; a step; or the end. Without storage it lasts as long as the page. */
const remembered = useStorage<string>('tour', '', undefined, {
  writeDefaults: false,
  listenToStorageChanges: false,
  onError: () => {},
})
const stored = tourSteps.find((step) => step === remembered.value)

/**
 * The current step; undefined without a tour. In a branch it does not offer itself: a lesson may be
 * going on there.
 */
export const tourStep = ref<TourStep | undefined>(
  branchName || remembered.value === 'done' ? undefined : (stored ?? 'sample')
)
/** The user has begun. Before that, the card shows only beside what it explains. */
export const tourBegun = computed(() => remembered.value !== '' && remembered.value !== 'done')

/** Goes to a step. */
export function setTour(step: TourStep): void {
  tourStep.value = step
  remembered.value = step
}

/** Moves on if the user has just done what `done` asks for. */
export function advanceTour(done: 'sample' | 'pod' | 'decision'): void {
  const next = tourSteps[tourSteps.indexOf(done) + 1]
  if (tourStep.value === done && next) setTour(next)
}

export function endTour(): void {
  tourStep.value = undefined
  remembered.value = 'done'
}

/** Starts with the first step, or with the second if there are already nodes. */
export function startTour(hasNodes: boolean): void {
  setTour(hasNodes ? 'pod' : 'sample')
}
