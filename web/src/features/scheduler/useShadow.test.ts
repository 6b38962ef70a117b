import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import * as whatif from '@/api/whatif'
import type { Shadow } from '@/api/types'
import { results } from '@/live/watched'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { useShadow, type ShadowView } from './useShadow'

const { getShadow: read } = mockFunctions(whatif)
const answer = (judged: number, waiting: number) =>
  ({ configuration: {}, judged, waiting, differ: 0, skipped: 0, items: [] }) as unknown as Shadow

let page: Running<ShadowView>
beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  page.unmount()
  vi.useRealTimers()
  read.mockReset()
})

it('reads the judgement again until no decision waits for it', async () => {
  read.mockResolvedValue(answer(0, 0))
  page = await withSetup(useShadow)
  await flushPromises()
  read
    .mockReset()
    .mockResolvedValueOnce(answer(0, 1))
    .mockResolvedValueOnce(answer(0, 1))
    .mockResolvedValueOnce(answer(1, 0))
  results.value = { ...results.value }
  await vi.advanceTimersByTimeAsync(60_000)
  expect(read).toHaveBeenCalledTimes(3)
  expect(page.value.shadow.value?.judged).toBe(1)
})
