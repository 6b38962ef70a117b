// The first-run tour: the user advances it by doing its three steps. Its state is stored in this browser.

import { ref } from 'vue'

export type TourStep = 'sample' | 'pod' | 'decision'
export const tourSteps: readonly TourStep[] = ['sample', 'pod', 'decision']

function remembered(): boolean {
  try {
    return localStorage.getItem('tour') === 'done'
  } catch {
    return false
  }
}

/** The next step; undefined when the tour is not running. */
export const tourStep = ref<TourStep | undefined>(remembered() ? undefined : 'sample')

/** Advances the tour if `done` is its next step. */
export function advanceTour(done: TourStep): void {
  if (tourStep.value !== done) return
  const next = tourSteps[tourSteps.indexOf(done) + 1]
  if (next) tourStep.value = next
  else endTour()
}

export function endTour(): void {
  tourStep.value = undefined
  try {
    localStorage.setItem('tour', 'done')
  } catch {
    // Storage may be disabled; the tour then restarts with the page.
  }
}

/** Starts with the first step, or with the second when there are nodes already. */
export function startTour(hasNodes: boolean): void {
  tourStep.value = hasNodes ? 'pod' : 'sample'
}
