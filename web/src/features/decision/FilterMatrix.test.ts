import { mount } from '@vue/test-utils'
import { beforeAll, describe, expect, it } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { Cycle } from '@/api/types'
import { filterMatrix } from './model/matrix'
import { scoreTable } from './model/scores'
import { cycleOf, explained, sampleCycle, type Outcome } from './model/testing'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import FilterMatrix from './FilterMatrix.vue'

// The matrix asks for them, and they must not arrive when the test is over.
beforeAll(loadDeferredMessages)

const page = { template: '<div />' }
const router = createRouter({
  history: createMemoryHistory(),
  routes: [
    { path: '/resources/:resource', name: 'resources', component: page },
    { path: '/:rest(.*)*', component: page },
  ],
})

/** Mounts the matrix as the page does: selecting a cell updates the props. */
function mounted(cycle: Cycle = sampleCycle(), show = '', at: { node?: string; plugin?: string; text?: string } = {}) {
  const matrix = filterMatrix(cycle)
  if (!matrix) throw new Error('no matrix')
  const table = scoreTable(cycle)
  const totals = new Map(table?.nodes.map((n, row) => [n, table.totals[row] ?? 0]))
  const wrapper = mount(FilterMatrix, {
    props: {
      cycle,
      matrix,
      chosen: cycle.selectedNode,
      totals,
      show,
      text: '',
      sort: '',
      node: '',
      plugin: '',
      ...at,
      onCell: (node: string, plugin: string) => void wrapper.setProps({ node, plugin }),
    },
    global: { plugins: [i18n, router] },
    attachTo: document.body,
  })
  return wrapper
}

describe('FilterMatrix', () => {
  it('names the state of each cell, not only by its colour', () => {
    const wrapper = mounted()
    const label = (node: string, plugin: string) =>
      wrapper.get(`[data-node="${node}"] [data-plugin="${plugin}"]`).attributes('aria-label')
    expect(
      ['NodeName', 'NodePorts', 'NodeResourcesFit', 'PodTopologySpread'].map((plugin) => label('node-a1', plugin))
    ).toEqual(['NodeName: passed', 'NodePorts: skipped', 'NodeResourcesFit: rejected', 'PodTopologySpread: not run'])
    const drawn = wrapper
      .findAll('[data-node="node-a1"] .gl path')
      .filter((e) => e.attributes('d') && !e.classes()[0]?.startsWith('b'))
    const shapes = new Map(
      drawn.map((e) => [e.classes()[0], (e.attributes('d') ?? '').replace(/^.*M[\d.]+ [\d.]+/, '')])
    )
    expect([...shapes.keys()].sort()).toEqual(['N', 'P', 'R', 'S'])
    expect(new Set(shapes.values()).size).toBe(4)
    wrapper.unmount()
  })

  it('shows another decision when the page does, as after a new attempt', async () => {
    const wrapper = mounted()
    const state = () => wrapper.get('[data-node="node-a1"] [data-plugin="NodeResourcesFit"]').attributes('data-state')
    expect(state()).toBe('R')
    const matrix = filterMatrix(sampleCycle())
    const at = matrix?.nodes.indexOf('node-a1') ?? -1
    const plugin = matrix?.plugins.indexOf('NodeResourcesFit') ?? -1
    const states = matrix?.states.map((row, i) => (i === at ? row.slice(0, plugin) + 'P' + row.slice(plugin + 1) : row))
    await wrapper.setProps({ matrix: { ...matrix, states } as typeof matrix })
    expect(state()).toBe('P')
    wrapper.unmount()
  })

  it('is one tab stop, and the arrow keys move the current cell within the grid', async () => {
    const wrapper = mounted()
    const grid = wrapper.get('[role="grid"]')
    expect(wrapper.findAll('[role="grid"] [tabindex="0"]')).toHaveLength(0)
    const press = async (key: string) => {
      await grid.trigger('keydown', { key })
      const current = wrapper.findAll('[role="gridcell"][aria-selected="true"]')
      expect(current).toHaveLength(1)
      expect(grid.attributes('aria-activedescendant')).toBe(current[0]?.attributes('id'))
      return current[0]?.attributes('aria-label')
    }
    expect(await press('ArrowDown')).toBe('node-a1, NodeName: passed')
    expect(await press('ArrowLeft')).toBe('node-a1, NodeName: passed')
    expect(await press('ArrowRight')).toBe('node-a1, NodeUnschedulable: passed')
    expect(await press('End')).toBe('node-a1, PodTopologySpread: not run')
    expect(await press('PageDown')).toBe('node-c4, PodTopologySpread: not run')
    expect(await press('ArrowDown')).toBe('node-c4, PodTopologySpread: not run')
    expect(await press('Home')).toBe('node-c4, NodeName: passed')
    wrapper.unmount()
  })

  it('offers the plugins that rejected nodes, and shows only their rows', () => {
    const wrapper = mounted(sampleCycle(), 'by:NodeResourcesFit')
    expect(wrapper.findAll('select option').map((o) => o.text())).toEqual([
      'All nodes (12)',
      'Feasible (6)',
      'Rejected (6)',
      'Rejected by TaintToleration (3)',
      'Rejected by NodeResourcesFit (2)',
      'Rejected by NodeAffinity (1)',
    ])
    expect(wrapper.findAll('[role="row"][data-node]').map((r) => r.attributes('data-node'))).toEqual([
      'node-a1',
      'node-c1',
    ])
    wrapper.unmount()
  })

  it.each([
    [
      { nodes: 4988, why: 'enoughFeasibleNodes' as const, wanted: 6 },
      '4,988 not evaluated: the scheduler had already found the 6 feasible nodes that it looks for.',
    ],
    [
      { nodes: 11, why: 'preFilter' as const, plugins: ['NodeAffinity'] },
      '11 not evaluated: NodeAffinity excluded them in PreFilter.',
    ],
    [
      { nodes: 11, why: 'enoughFeasibleNodes' as const, wanted: 1 },
      '11 not evaluated: the search stops at the first feasible node, because nothing scores nodes.',
    ],
    [
      { nodes: 11, why: 'nominatedNode' as const },
      '11 not evaluated: the scheduler tried the nominated node first, and it fits.',
    ],
  ])('says why nodes were not evaluated: %o', (notEvaluated, text) => {
    const wrapper = mounted(sampleCycle({ explanation: explained({ notEvaluated }) }))
    expect(wrapper.get('[data-testid="not-evaluated"]').text()).toBe(text)
    wrapper.unmount()
  })

  describe('of many nodes', () => {
    const many = () =>
      cycleOf([
        50,
        ...Array.from({ length: 9 }, () => ['B', 'Insufficient cpu'] as Outcome),
        ...Array.from({ length: 5 }, () => ['A', 'taint'] as Outcome),
      ])
    const shown = (wrapper: ReturnType<typeof mounted>) =>
      wrapper.findAll('.rows [role="row"]').map((row) => {
        const open = { true: ' open', false: '' }[row.attributes('aria-expanded') ?? 'false']
        return row.attributes('data-node') ?? `${row.get('[role="rowheader"]').text()}${open}`
      })
    const folded = ['n1', '9 nodes', '5 nodes']

    it('is one row for each reason, which a click unfolds', async () => {
      const wrapper = mounted(many())
      expect(shown(wrapper)).toEqual(folded)
      expect(wrapper.get('[role="status"]').text()).toBe('15 nodes, 3 different outcomes')
      await wrapper.get('[data-fold="2"]').trigger('click')
      expect(shown(wrapper)).toEqual(['n1', '9 nodes', '5 nodes open', 'n11', 'n12', 'n13', 'n14', 'n15'])
      // The row of the reason has said it.
      expect(wrapper.get('[data-fold="2"] .why').text()).toContain('taint')
      expect(wrapper.get('[data-node="n11"] .why').text()).toBe('')
      await wrapper.get('[data-fold="2"]').trigger('click')
      expect(shown(wrapper)).toEqual(folded)
      wrapper.unmount()
    })

    it('unfolds by keyboard, and goes on to the cells of its nodes', async () => {
      const wrapper = mounted(many())
      const grid = wrapper.get('[role="treegrid"]')
      const press = (key: string) => grid.trigger('keydown', { key })
      const active = () => wrapper.get(`#${grid.attributes('aria-activedescendant')}`)
      await press('ArrowDown')
      await press('ArrowRight')
      expect(active().attributes('aria-label')).toBe('n1, B: passed')
      await press('ArrowDown')
      expect(active().attributes('aria-expanded')).toBe('false')
      await press('ArrowRight')
      expect(active().attributes('aria-expanded')).toBe('true')
      await press('ArrowDown')
      expect(active().attributes('aria-label')).toBe('n2, B: rejected')
      await press('ArrowUp')
      await press('Enter')
      expect(active().attributes('aria-expanded')).toBe('false')
      expect(shown(wrapper)).toEqual(folded)
      wrapper.unmount()
    })

    it('unfolds the reason of a node that a link leads to, and what a search finds', async () => {
      const wrapper = mounted(many(), '', { node: 'n12', plugin: 'A' })
      expect(shown(wrapper)).toContain('n12')
      expect(shown(wrapper)).not.toContain('n2')
      expect(wrapper.get('[role="gridcell"][aria-selected="true"]').attributes('aria-label')).toBe('n12, A: rejected')
      wrapper.unmount()
      const found = mounted(many(), '', { text: 'cpu' })
      expect(shown(found)).toHaveLength(10)
      found.unmount()
    })

    it('shows each node when it is asked to', async () => {
      const wrapper = mounted(many())
      await wrapper.setProps({ sort: 'node' })
      expect(shown(wrapper)).toHaveLength(15)
      expect(wrapper.find('[role="grid"]').exists()).toBe(true)
      wrapper.unmount()
    })

    it('has one column for the plugins that were skipped, unless a link leads to one', async () => {
      const plugins = (wrapper: ReturnType<typeof mounted>) =>
        wrapper.findAll('[data-node="n1"] [data-plugin]').map((cell) => cell.attributes('data-plugin'))
      const wrapper = mounted(many())
      expect(plugins(wrapper)).toEqual(['A', 'B', 'C'])
      const button = wrapper.get('[data-testid="skipped"]')
      expect([button.text(), button.attributes('aria-expanded')]).toEqual(['+2 skipped', 'false'])
      await button.trigger('click')
      expect(plugins(wrapper)).toEqual(['A', 'Skipped1', 'B', 'Skipped2', 'C'])
      expect(button.attributes('aria-expanded')).toBe('true')
      wrapper.unmount()
      const linked = mounted(many(), '', { node: 'n1', plugin: 'Skipped2' })
      expect(plugins(linked)).toContain('Skipped2')
      linked.unmount()
    })
  })
})
