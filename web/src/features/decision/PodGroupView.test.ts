import { mount, RouterLinkStub } from '@vue/test-utils'
import { expect, it } from 'vitest'
import type { PodGroup } from '@/api/types'
import { i18n } from '@/i18n'
import PodGroupView from './PodGroupView.vue'

const member = (n: number) => ({ namespace: 'ml', name: `trainer-${n}`, uid: `u${n}` })
const group: PodGroup = {
  namespace: 'ml',
  name: 'training',
  workload: 'nightly',
  template: 'workers',
  minCount: 4,
  topologyKey: 'rack',
  members: [1, 2, 3].map(member),
  memberCount: 120,
  alreadyScheduled: 1,
  outcome: 'unschedulable',
  placements: [
    { name: 'rack-1', nodes: 8, tried: 4, assigned: 4, status: 'Success', scores: { NodeResourcesFit: 70 }, total: 70 },
    {
      name: 'rack-2',
      nodes: 8,
      tried: 2,
      assigned: 1,
      status: 'Unschedulable',
      blockedBy: [{ plugin: 'NodeResourcesFit', members: 2, reasons: ['Insufficient cpu'] }],
    },
  ],
  placementCount: 105,
  placement: 1,
  chosen: 0,
}
const shown = (of: PodGroup) =>
  mount(PodGroupView, {
    props: { group: of, pod: member(2) },
    global: { plugins: [i18n], stubs: { RouterLink: RouterLinkStub } },
  })
const rowsOf = (wrapper: ReturnType<typeof shown>) =>
  wrapper.findAll('tbody tr').map((tr) => tr.findAll('th, td').map((cell) => cell.text().replace(/\s+/g, ' ')))

it('shows the members of the group, its minimum and its outcome', () => {
  const wrapper = shown(group)
  expect(wrapper.get('h2').text()).toMatch(/ml\/training.*unschedulable.*at least 4/s)
  expect(wrapper.text()).toContain('120 members tried together, 1 already placed, all on nodes with the same rack')
  expect(wrapper.text()).toContain('Workload nightly, template workers')
  expect(wrapper.findAll('.m').map((m) => [m.text(), m.attributes('aria-current')])).toEqual([
    ['trainer-1', undefined],
    ['trainer-2', 'true'],
    ['trainer-3', undefined],
  ])
  expect(wrapper.text()).toContain('and 117 more that the record does not list')
})

it('shows each placement with the tried members, what blocked it and its scores', () => {
  const wrapper = shown(group)
  expect(rowsOf(wrapper)).toEqual([
    ['rack-1 chosen', '8', '4', '4', 'Success', '70', '70'],
    [
      'rack-2 this attempt',
      '8',
      '2',
      '1',
      'Unschedulable NodeResourcesFit rejected nodes for 2 members: Insufficient cpu',
      'not scored',
      'not scored',
    ],
  ])
  expect(wrapper.text()).toContain('The scheduler tried 103 more placements')
})

it('works without placements', () => {
  expect(
    shown({ ...group, placements: [], placementCount: 0, members: [] })
      .find('table')
      .exists()
  ).toBe(false)
})

it('lists the pods that preemption removes for the group', () => {
  const victim = { pod: { namespace: 'ml', name: 'low-1', uid: 'v1' }, priority: 5, node: 'n1' }
  const at = (preemption: PodGroup['preemption']) =>
    shown({ ...group, preemption })
      .get('[data-testid="group-preemption"]')
      .text()
      .replace(/\s+/g, ' ')
  expect(at({ helpful: true, victims: [victim], victimCount: 3, reprievedCount: 2 })).toBe(
    'To make room for the group, preemption removes 3 pods: low-1 n12 more2 lower-priority pods are reprieved.'
  )
  expect(at({ helpful: false, victims: [], victimCount: 0, reprievedCount: 4 })).toBe(
    'The group would not fit even without the 4 lower-priority pods.'
  )
})
