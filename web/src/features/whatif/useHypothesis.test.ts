import { afterEach, expect, it, vi } from 'vitest'
import { withSetup, type Running } from '@/ui/testing'
import { noHypothesis, type Hypothesis } from './model/hypothesis'
import { encodeHypothesis } from './model/link'
import { useHypothesis, type HypothesisInURL } from './useHypothesis'

const evict: Hypothesis = { changes: [{ delete: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'etl' } }] }
const noise = Array.from({ length: 20_000 }, (_, i) => ((i * 7919 + (i % 13) * 104729) % 65536).toString(36)).join('')

let page: Running<HypothesisInURL>
const open = async (at: string) => {
  page = await withSetup(useHypothesis, { at })
}
const query = () => page.router.currentRoute.value.query
afterEach(() => page.unmount())

it('opens a link, and keeps the other parts of the URL', async () => {
  await open(`/?find=n1&try=${await encodeHypothesis(evict)}`)
  await vi.waitFor(() => expect([page.value.hypothesis.value, page.value.supposed.value]).toEqual([evict, true]))
  page.value.discard()
  await vi.waitFor(() => expect(query()).toEqual({ find: 'n1' }))
})

it('writes the link, and goes back with the browser', async () => {
  await open('/')
  page.value.suppose(evict)
  expect(page.value.hypothesis.value).toEqual(evict)
  const code = await encodeHypothesis(evict)
  await vi.waitFor(() => expect(query().try).toBe(code))
  page.router.back()
  await vi.waitFor(() => expect(page.value.hypothesis.value).toEqual(noHypothesis))
})

it('keeps a hypothesis that no link can hold, and says so', async () => {
  await open('/')
  page.value.suppose({ changes: [], configuration: noise })
  await vi.waitFor(() => expect(page.value.tooLarge.value).toBe(true))
  expect([page.value.supposed.value, query().try]).toEqual([true, undefined])
  page.value.suppose(evict)
  const code = await encodeHypothesis(evict)
  await vi.waitFor(() => expect([page.value.tooLarge.value, query().try]).toEqual([false, code]))
})

it('says that a link is unreadable', async () => {
  await open('/?try=nonsense')
  await vi.waitFor(() => expect([page.value.unreadable.value, page.value.supposed.value]).toEqual([true, false]))
})
