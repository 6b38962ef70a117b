import { mount, RouterLinkStub } from '@vue/test-utils'
import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { preemptionTable } from './model/preemption'
import { sampleCycle } from './model/testing'
import { i18n } from '@/i18n'
import PreemptionView from './PreemptionView.vue'

const victim = (name: string, priority: number) => ({ pod: { namespace: 'batch', name, uid: name }, priority })
const preemption: Cycle['preemption'] = {
  candidates: [
    { node: 'node-a3', victims: [victim('api-1', 1000)], pdbViolations: 2 },
    {
      node: 'node-b1',
      victims: [victim('etl-1', 100)],
      reprieved: [victim('cache-3', 5000), victim('web-1', 1000)],
      pdbViolations: 0,
    },
  ],
  chosen: 'node-b1',
  rule: 'fewestPDBViolations',
  unhelpful: [
    {
      status: 'UnschedulableAndUnresolvable',
      plugin: 'TaintToleration',
      reasons: ['node(s) had untolerated taint(s)'],
      nodes: ['node-a4', 'node-b4'],
    },
  ],
}

it('shows candidates with their victims, the chosen one first, and the rule in words', () => {
  const table = preemptionTable(sampleCycle({ preemption }))
  if (!table) throw new Error('no table')
  const wrapper = mount(PreemptionView, {
    props: { table },
    global: { plugins: [i18n], stubs: { RouterLink: RouterLinkStub } },
  })
  const rows = wrapper
    .findAll('tbody tr')
    .map((tr) => tr.findAll('th, td').map((cell) => cell.text().replace(/\s+/g, ' ')))
  expect(rows).toEqual([
    ['node-b1chosen', 'etl-1 100', 'cache-3 5,000web-1 1,000', '0', '100', '100', '1', 'not started'],
    ['node-a3', 'api-1 1,000', 'none', '2', '1,000', '1,000', '1', 'not started'],
  ])
  // The column of the deciding rule marks its values.
  expect(wrapper.get('thead th.dec').text()).toContain('PDB violations')
  expect(wrapper.findAll('td.lost').map((td) => td.text())).toEqual(['2'])
  expect(wrapper.get('.rule').text()).toBe('node-b1 is chosen: its victims violate the fewest PodDisruptionBudgets.')
  expect(wrapper.get('.un').text()).toBe(
    '2 nodes the dry run found no victims: TaintToleration node(s) had untolerated taint(s)'
  )
})

it('says how many candidates and victims the record left out', () => {
  const many = Array.from({ length: 200 }, (_, i) => victim(`v-${i}`, 1))
  const table = preemptionTable(
    sampleCycle({
      preemption: {
        candidates: [{ node: 'node-a3', victims: many, victimsDropped: 50, pdbViolations: 0 }],
        candidatesDropped: 468,
        chosen: 'node-a3',
      },
    })
  )
  if (!table) throw new Error('no table')
  const wrapper = mount(PreemptionView, {
    props: { table },
    global: { plugins: [i18n], stubs: { RouterLink: RouterLinkStub } },
  })
  expect(wrapper.get('h2').text()).toBe('Preemption 469 candidates')
  expect(wrapper.get('[data-testid="candidates-dropped"]').text()).toBe(
    'The record keeps the chosen candidate and those closest to it by the rules, 1 in all.'
  )
  expect(wrapper.get('tbody td .chips').text()).toContain('244 more')
})
