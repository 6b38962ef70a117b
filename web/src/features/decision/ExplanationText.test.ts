import { mount } from '@vue/test-utils'
import { afterEach, describe, expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { explained, mockupCycle } from './model/testing'
import { i18n } from '@/i18n'
import ExplanationText from './ExplanationText.vue'

const text = (cycle: Cycle, short = false) => mount(ExplanationText, { props: { cycle, short }, global: { plugins: [i18n] } }).text()

afterEach(() => {
  i18n.global.locale.value = 'en'
})

describe('ExplanationText', () => {
  it('says what the server’s sentence says', () => {
    const cycle = mockupCycle()
    expect(text(cycle)).toBe(cycle.explanation.sentence)
  })
  it('says it in Japanese with the same facts', () => {
    i18n.global.locale.value = 'ja'
    const said = text(mockupCycle())
    for (const fact of ['web-7f9c-x2k4', 'node-b2', '823', '6', '41', 'node-a3']) expect(said).toContain(fact)
    expect(said).not.toMatch(/runs on|ahead/)
  })
  it('counts the rejections beside a pod on the map', () => {
    expect(text(mockupCycle(), true)).toBe('Best total 823 of 6 feasible. Rejected: 3 TaintToleration, 2 NodeResourcesFit, 1 NodeAffinity. Margin 41 over node-a3.')
  })
  it('names those with the same total', () => {
    const margin = { over: 'node-a3', total: 0, tied: ['node-a3', 'node-c3'], parts: [] }
    expect(text(mockupCycle({ explanation: explained({ margin }) }))).toContain('by chance before node-a3, node-c3 with the same total')
    const facts = [{ plugin: 'TieSeed', key: 'tie broken by seed', value: '' }]
    expect(text(mockupCycle({ explanation: explained({ margin }), facts }))).toContain('by the seed before node-a3, node-c3 with the same total')
    expect(text(mockupCycle({ explanation: explained({ margin }), facts }), true)).toContain('By the seed before node-a3, node-c3 with the same total.')
  })
  it('names the requests for devices that nodes cannot meet', () => {
    const devices = [{ claim: 'gpu', request: 'card', deviceClass: 'large', count: 2, nodes: 3, compared: 4, noMatch: 2, inUse: 1 }]
    expect(text(mockupCycle({ explanation: explained({ devices }) }))).toContain(
      'Request card of claim gpu wants 2 devices of class large: of 4 nodes looked into, too few match on 2, others hold them on 1.',
    )
  })
  it('adds what preemption does about it', () => {
    const victim = { pod: { namespace: 'batch', name: 'etl-1', uid: 'v' }, priority: 100 }
    const { score, selectedNode, ...rest } = mockupCycle()
    expect([score?.nodes.length, selectedNode]).toEqual([6, 'node-b2'])
    const cycle: Cycle = {
      ...rest,
      outcome: 'unschedulable',
      explanation: explained({ rejections: [{ plugin: 'NodeResourcesFit', nodes: 12, reasons: [] }] }),
      preemption: { candidates: [{ node: 'node-b1', victims: [victim], pdbViolations: 0 }], chosen: 'node-b1' },
    }
    expect(text(cycle)).toBe('web-7f9c-x2k4 fits no node: 12 of 12 evaluated, all rejected by NodeResourcesFit (12). Preemption makes room on node-b1 by removing 1 pod.')
  })
})
