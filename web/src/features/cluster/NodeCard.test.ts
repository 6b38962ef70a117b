import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import { i18n } from '@/i18n'
import { buildCluster, node } from '@/kubernetes/testing'
import NodeCard from './NodeCard.vue'

const [view] = buildCluster(new Map([['n1', node('n1', {}, { cpu: '2', memory: '4Gi', pods: '10' })]]), new Map()).nodes
function card(verdict: NodeVerdict) {
  if (!view) throw new Error('no node')
  return mount(NodeCard, {
    props: { view, verdict, ask: new Map([['cpu', 4]]), before: true, colourOf: () => 0, extended: [] },
    global: { plugins: [i18n], stubs: { RouterLink: true } },
  })
}

it('does not ask a node that came after the decision whether the pod fits', () => {
  const later = card({ kind: 'absent', later: true })
  expect(later.text()).toContain('added after this decision')
  expect(later.find('.req').exists()).toBe(false)
  expect(later.text()).not.toContain('0+4')
  expect(later.classes()).not.toContain('rejected')
})

it('shows what a node lacks that NodeResourcesFit rejected', () => {
  const rejected = card({ kind: 'rejected', plugin: 'NodeResourcesFit', reason: 'Insufficient cpu' })
  expect(rejected.text()).toContain('0+4')
  expect(rejected.classes()).toContain('rejected')
})
