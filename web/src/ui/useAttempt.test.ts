import { expect, it } from 'vitest'
import { useAttempt } from './useAttempt'

it('is busy while the action runs, and tells whether it succeeded', async () => {
  const { busy, error, attempt } = useAttempt()
  let end = () => {}
  const done = attempt(() => new Promise<void>((resolve) => (end = resolve)))
  expect(busy.value).toBe(true)
  end()
  expect(await done).toBe(true)
  expect([busy.value, error.value]).toEqual([false, undefined])
})

it('keeps the error until the next action, and hands it on', async () => {
  const told: unknown[] = []
  const { busy, error, attempt } = useAttempt((reason) => told.push(reason))
  const reason = new Error('no such branch')
  expect(await attempt(() => Promise.reject(reason))).toBe(false)
  expect([busy.value, error.value, told]).toEqual([false, reason, [reason]])
  await attempt(() => Promise.resolve())
  expect([error.value, told]).toEqual([undefined, [reason]])
})
