import { expect, it } from 'vitest'
import { effectScope } from 'vue'
import { useAnswer } from './answer'

/** Requests that the test answers itself. */
function questions() {
  const open = new Map<
    string,
    { resolve: (text: string) => void; reject: (error: unknown) => void; signal: AbortSignal }
  >()
  const read = (signal: AbortSignal, name: string) =>
    new Promise<string>((resolve, reject) => open.set(name, { resolve, reject, signal }))
  const of = (name: string) => {
    const question = open.get(name)
    if (!question) throw new Error(`nobody asked ${name}`)
    return question
  }
  return { read, of }
}

it('keeps the answer to the newest request, even if responses overtake each other', async () => {
  const { read, of } = questions()
  const { value, loading, ask } = useAnswer(read)
  const [first, second] = [ask('first'), ask('second')]
  expect([of('first').signal.aborted, of('second').signal.aborted, loading.value]).toEqual([true, false, true])
  of('second').resolve('2')
  expect(await second).toBe(true)
  of('first').resolve('1')
  expect(await first).toBe(false)
  expect([value.value, loading.value]).toEqual(['2', false])
})

it('keeps the answer during the next request and if that fails, and keeps the error until one succeeds', async () => {
  const { read, of } = questions()
  const { value, error, ask } = useAnswer(read)
  const first = ask('first')
  of('first').resolve('1')
  await first
  const second = ask('second')
  of('second').reject('refused')
  await second
  expect([value.value, error.value]).toEqual(['1', 'refused'])
  const third = ask('third')
  expect([value.value, error.value]).toEqual(['1', 'refused'])
  of('third').resolve('3')
  await third
  expect([value.value, error.value]).toEqual(['3', undefined])
})

it('drops the answer when the next request fails, with dropOnError', async () => {
  const { read, of } = questions()
  const { value, error, ask } = useAnswer(read, { dropOnError: true })
  const first = ask('first')
  of('first').resolve('1')
  await first
  const second = ask('second')
  of('second').reject('refused')
  await second
  expect([value.value, error.value]).toEqual([undefined, 'refused'])
})

it('ignores responses and failures after clear() or the end of its scope', async () => {
  const { read, of } = questions()
  const scope = effectScope()
  const { value, error, loading, ask, clear } = scope.run(() => useAnswer(read)) ?? useAnswer(read)
  const cleared = ask('cleared')
  clear()
  of('cleared').reject('late')
  expect([await cleared, error.value, loading.value]).toEqual([false, undefined, false])
  const ended = ask('ended')
  scope.stop()
  of('ended').resolve('late')
  expect([await ended, value.value]).toEqual([false, undefined])
})
