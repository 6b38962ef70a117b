import { flushPromises } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { useQuery } from './query'
import { withSetup } from './testing'

it('keeps every parameter that is set before the URL has changed', async () => {
  const page = await withSetup(() => ({ like: useQuery('like'), count: useQuery('for') }), { at: '/?pod=a' })
  page.value.like.value = 'node-1'
  page.value.count.value = '100'
  await flushPromises()
  expect(page.router.currentRoute.value.query).toEqual({ pod: 'a', like: 'node-1', for: '100' })
  page.value.like.value = ''
  await flushPromises()
  expect(page.router.currentRoute.value.query).toEqual({ pod: 'a', for: '100' })
})

it('leaves no trace of a parameter that another navigation has overtaken', async () => {
  const page = await withSetup(() => ({ like: useQuery('like'), count: useQuery('for') }), { at: '/?pod=a' })
  page.value.like.value = 'node-1'
  await page.router.push({ query: { pod: 'b' } })
  await flushPromises()
  page.value.count.value = '5'
  await flushPromises()
  expect(page.router.currentRoute.value.query).toEqual({ pod: 'b', for: '5' })
})
