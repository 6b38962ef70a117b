// The first-run tour: three steps, taken by doing them. Remembered in this browser.

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

/** The step that waits to be taken; undefined when there is no tour. */
export const tourStep = ref<TourStep | undefined>(remembered() ? undefined : 'sample')

/** The tour goes on when its step has just been done. */
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
    // Storage can be switched off; the tour then comes back with the page.
  }
}

/** From the first step, or from the second when there are nodes already. */
export function startTour(hasNodes: boolean): void {
  tourStep.value = hasNodes ? 'pod' : 'sample'
}
