import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { lazily, preload, savesData } from './lazily'
import { notices } from './notices'

const idle = () => Promise.resolve()
const away = new TypeError('Failed to fetch dynamically imported module')
beforeEach(() => {
  notices.value = []
})
afterEach(() => vi.useRealTimers())

it('preloads each part once, also parts that a part registers', async () => {
  const inner = vi.fn(() => Promise.resolve('inner'))
  const outer = vi.fn(() => Promise.resolve(void lazily(inner)))
  lazily(outer)
  await preload(idle)
  await preload(idle)
  expect([outer.mock.calls.length, inner.mock.calls.length]).toEqual([1, 1])
})

it('does not preload what is loaded already', async () => {
  const load = vi.fn(() => Promise.resolve('part'))
  expect(await lazily(load)()).toBe('part')
  await preload(idle)
  expect(load).toHaveBeenCalledTimes(1)
})

it('leaves a part that cannot be preloaded for the next time, and says nothing', async () => {
  const load = vi.fn<() => Promise<string>>().mockRejectedValueOnce(away).mockResolvedValue('part')
  lazily(load)
  await preload(idle)
  await preload(idle)
  await preload(idle)
  expect(load).toHaveBeenCalledTimes(2)
  expect(notices.value).toEqual([])
})

it('says that a part is missing when it is needed, and opens it once the server responds', async () => {
  vi.useFakeTimers()
  const load = vi
    .fn<() => Promise<string>>()
    .mockRejectedValueOnce(away)
    .mockRejectedValueOnce(away)
    .mockResolvedValue('part')
  const wanted = lazily(load)()
  await vi.advanceTimersByTimeAsync(10)
  expect(notices.value.map((n) => n.kind)).toEqual(['failed'])
  await vi.advanceTimersByTimeAsync(4000)
  expect(await wanted).toBe('part')
  expect(notices.value).toHaveLength(1)
})

it('knows who saves data', () => {
  expect(savesData()).toBe(false)
  Object.defineProperty(navigator, 'connection', { value: { saveData: true }, configurable: true })
  expect(savesData()).toBe(true)
  Object.defineProperty(navigator, 'connection', { value: undefined, configurable: true })
})
