import { mount, RouterLinkStub } from '@vue/test-utils'
import { expect, it } from 'vitest'
import type { Evictions } from '@/api/types'
import { i18n } from '@/i18n'
import EvictionFacts from './EvictionFacts.vue'

const shown = (evictions: Evictions) =>
  mount(EvictionFacts, { props: { evictions }, global: { plugins: [i18n], stubs: { RouterLink: RouterLinkStub } } })
    .text()
    .replace(/\s+/g, ' ')

it('says what became of the victims', () => {
  expect(shown({ victims: 2, deleted: 2, released: 0, done: true, durationSeconds: 0.012 })).toBe(
    'Evictions 2 of 2 deleted, in 12.0 ms'
  )
  expect(shown({ victims: 3, deleted: 1, released: 1, terminating: 1, done: true, durationSeconds: 0.012 })).toBe(
    'Evictions 1 of 3 deleted, 1 released in the scheduler’s memory, 1 already terminating, in 12.0 ms'
  )
})

it('names the failure, and counts those that were not attempted for it', () => {
  const failures = [{ pod: { namespace: 'shop', name: 'db', uid: 'u' }, error: 'the API server is gone' }]
  expect(shown({ victims: 3, deleted: 1, released: 0, failed: 1, failures, done: true, durationSeconds: 0.012 })).toBe(
    'Evictions 1 of 3 deleted, 1 failed, 1 not attempted, in 12.0 ms' + 'shop/db the API server is gone'
  )
})

it('says that evictions are under way, without a duration before the first has returned', () => {
  expect(shown({ victims: 3, deleted: 0, released: 0, done: false, durationSeconds: null })).toBe(
    'Evictions 0 of 3 deleted, in progress'
  )
})
