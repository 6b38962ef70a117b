import { mount } from '@vue/test-utils'
import { beforeAll, expect, it } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { scoreTable } from './model/scores'
import { sampleCycle } from './model/testing'
import ScoreTableView from './ScoreTableView.vue'

beforeAll(loadDeferredMessages)

it('has a heading, a track and a cell for each column', () => {
  const table = scoreTable(sampleCycle())
  if (!table) throw new Error('no table')
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:resource', name: 'resources', component: { template: '<div />' } }],
  })
  const wrapper = mount(ScoreTableView, {
    props: { table, text: '', sort: '', node: 'node-b2', plugin: 'ImageLocality', values: 'all' },
    global: { plugins: [i18n, router] },
  })
  const heads = wrapper.findAll('[role="columnheader"]')
  const [first, second] = wrapper.findAll('.rows [role="row"]').map((row) => [...row.element.children])
  expect(heads.map((head) => head.get('button').text().replace(/\s+/g, ' '))).toEqual([
    '#Rank',
    'Node',
    ...table.columns.map(({ name, weight }) => `${name} ×${weight}`),
    'Total',
    'vs. best',
    'Breakdown',
  ])
  const tracks = wrapper.element.style.getPropertyValue('--cols').match(/minmax\([^)]*\)|\S+/g)
  expect([tracks?.length, first?.length, wrapper.get('[role="grid"]').attributes('aria-colcount')]).toEqual([
    heads.length,
    heads.length,
    String(heads.length),
  ])
  expect([first, second].map((cells) => [0, 1, -3, -2].map((at) => cells?.at(at)?.textContent))).toEqual([
    ['1', 'node-b2', '823', 'chosen'],
    ['2', 'node-a3', '782', '−41'],
  ])
  const selected = wrapper.get('[aria-selected]')
  expect(wrapper.get('[role="grid"]').attributes('aria-activedescendant')).toBe(selected.attributes('id'))
})
