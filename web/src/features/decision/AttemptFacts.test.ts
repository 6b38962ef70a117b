import { mount, RouterLinkStub } from '@vue/test-utils'
import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { i18n } from '@/i18n'
import AttemptFacts from './AttemptFacts.vue'
import { sampleCycle } from './model/testing'

const shown = (change: Partial<Cycle>) =>
  mount(AttemptFacts, {
    props: { cycle: sampleCycle(change) },
    global: { plugins: [i18n], stubs: { RouterLink: RouterLinkStub } },
  })
const text = (change: Partial<Cycle>, selector: string) =>
  shown(change)
    .findAll(selector)
    .map((e) => e.text().replace(/\s+/g, ' '))

it('shows which nominated pods counted on which nodes, and what came of it', () => {
  const { filter } = sampleCycle()
  if (!filter) throw new Error('no filter')
  const pod = (name: string) => ({ namespace: 'default', name, uid: name })
  const nominated = [
    { node: 'node-a2', pods: [pod('db')], podCount: 1, rejected: true },
    { node: 'node-b2', pods: [pod('web'), pod('cache')], podCount: 40, rejected: false },
  ]
  expect(text({ filter: { ...filter, nominated } }, '[data-testid=nominated-passes] dd')).toEqual([
    'db rejected with them',
    'web, cache 38 more passed with them',
  ])
  expect(text({ filter }, '[data-testid=nominated-passes]')).toEqual([])
})

it('says whether the node that the pod was nominated to was taken', () => {
  const facts = (used: boolean) =>
    text({ nomination: { node: 'node-b2', used } }, 'dd').find((line) => line.startsWith('node-b2'))
  expect(facts(true)).toBe('node-b2 at the start of the attempt; tried first, used')
  expect(facts(false)).toBe('node-b2 at the start of the attempt; not used')
})
