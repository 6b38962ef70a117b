import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.resetModules()
  vi.unstubAllGlobals()
})

/** The store as a page at this address has it. */
async function at(pathname: string) {
  vi.stubGlobal('location', { ...window.location, pathname })
  return import('./tour')
}

test('the tour offers itself on a first visit', async () => {
  expect((await at('/')).tourStep.value).toBe('sample')
})

test('it does not stand in the way of a lesson in a branch', async () => {
  const { tourStep, startTour } = await at('/branches/lesson-queue/activity')
  expect(tourStep.value).toBeUndefined()
  startTour(true)
  expect(tourStep.value).toBe('pod')
})
