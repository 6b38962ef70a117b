import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, describe, expect, it } from 'vitest'
import type { Cycle, Explanation } from '@/api/types'
import { explained, sampleCycle } from './model/testing'
import { i18n } from '@/i18n'
import ExplanationText from './ExplanationText.vue'

const text = (cycle: Cycle, short = false) =>
  mount(ExplanationText, {
    props: { cycle, short },
    global: { plugins: [i18n], stubs: { RouterLink: RouterLinkStub } },
  }).text()
const textOf = (explanation: Explanation) => text(sampleCycle({ explanation }))

afterEach(() => {
  i18n.global.locale.value = 'en'
})

/** The cases that also test the Go renderer. */
const cases = join(import.meta.dirname, '../../../../scheduler/explain/testdata/cases.json')
const shared = JSON.parse(readFileSync(cases, 'utf8')) as { name: string; explanation: Explanation }[]

/** The texts and numbers of a statement, at any depth. A role is a word, which is translated. */
function operands(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, of]) => (name === 'kind' || name === 'role' ? [] : operands(of)))
}

describe('ExplanationText', () => {
  it.each(shared)('has the server’s words in English: $name', ({ explanation }) => {
    expect(textOf(explanation)).toBe(explanation.sentence)
  })

  it.each(shared)('has the same facts in Japanese: $name', ({ explanation }) => {
    i18n.global.locale.value = 'ja'
    const said = textOf(explanation)
    expect(said).toMatch(/[ぁ-ん]/)
    const facts = [explanation.headline, ...(explanation.remarks ?? [])]
      .flatMap(operands)
      .filter((fact) => explanation.sentence.includes(fact))
    expect(facts.filter((fact) => !said.includes(fact))).toEqual([])
  })

  it('has the same facts in Japanese', () => {
    i18n.global.locale.value = 'ja'
    const said = text(sampleCycle())
    for (const fact of ['web-7f9c-x2k4', 'node-b2', '823', '6', '41', 'node-a3']) expect(said).toContain(fact)
    expect(said).not.toMatch(/runs on|ahead/)
  })

  it('emphasises the pod, its node and the plugins', () => {
    const bold = (cycle: Cycle) =>
      mount(ExplanationText, { props: { cycle }, global: { plugins: [i18n], stubs: { RouterLink: RouterLinkStub } } })
        .findAll('b')
        .map((b) => `${b.text()}${b.classes('ch') ? ' (node)' : ''}`)
    expect(bold(sampleCycle())).toEqual(['web-7f9c-x2k4', 'node-b2 (node)', '823', '41', 'node-a3'])
    const headline = {
      kind: 'noNode',
      pod: 'p',
      evaluated: 2,
      total: 2,
      rejecters: [{ plugin: 'A', nodes: 2 }],
    } as const
    expect(
      bold(sampleCycle({ explanation: explained({ headline: { ...headline, rejecters: [...headline.rejecters] } }) }))
    ).toEqual(['p', '2 by A'])
  })

  it('counts the rejections beside a pod on the map', () => {
    expect(text(sampleCycle(), true)).toBe(
      'Best total 823 of 6 feasible. Rejected: 3 TaintToleration, 2 NodeResourcesFit, 1 NodeAffinity. Margin 41 over node-a3.'
    )
  })

  it('names the nodes with the same total', () => {
    const tie = { pod: 'web-7f9c-x2k4', node: 'node-b2', total: 823, feasible: 6, others: ['node-a3', 'node-c3'] }
    const byChance = sampleCycle({ explanation: explained({ headline: { kind: 'tied', ...tie } }) })
    expect(text(byChance)).toContain('tied with node-a3, node-c3 and picked at random')
    expect(text(byChance, true)).toContain('Tied with node-a3, node-c3 and picked at random.')
    const bySeed = sampleCycle({ explanation: explained({ headline: { kind: 'tiedBySeed', ...tie } }) })
    expect(text(bySeed)).toContain('tied with node-a3, node-c3 and picked by the seed')
    expect(text(bySeed, true)).toContain('Tied with node-a3, node-c3 and picked by the seed.')
  })

  it('names the device requests that nodes cannot satisfy', () => {
    const shortage = {
      kind: 'deviceShortage',
      claim: 'gpu',
      request: 'card',
      deviceClass: 'large',
      count: 2,
      nodes: 3,
      compared: 4,
      noMatch: 2,
      inUse: 1,
      blocked: 0,
    } as const
    expect(textOf(explained({ remarks: [shortage] }))).toContain(
      'Request card of claim gpu needs 2 devices of class large: ' +
        '3 of 4 checked nodes cannot satisfy it (too few match on 2, already in use on 1).'
    )
  })

  it('names the node that lacks the least', () => {
    const nearest = {
      kind: 'nearest',
      node: 'node-c',
      nodes: 3,
      lacks: [
        { resource: 'cpu', amount: 500 },
        { resource: 'memory', amount: 3 * 2 ** 29 },
      ],
    } as const
    const said = () => textOf(explained({ remarks: [{ ...nearest, lacks: [...nearest.lacks] }] }))
    expect(said()).toContain(
      'Of the 3 nodes that lack resources, node-c is the closest fit: it lacks 0.5 cpu, 1.5 Gi memory.'
    )
    i18n.global.locale.value = 'ja'
    for (const fact of ['3', 'node-c', 'cpu 0.5', 'memory 1.5 Gi']) expect(said()).toContain(fact)
  })

  it('has thousands separators in every number', () => {
    const said = textOf(
      explained({
        headline: { kind: 'noNode', pod: 'p', evaluated: 1523, total: 1523, rejecters: [{ plugin: 'P', nodes: 1523 }] },
        remarks: [{ kind: 'nearest', node: 'n', nodes: 1523, lacks: [{ resource: 'gpu-milli', amount: 1_416_620 }] }],
      })
    )
    expect(said).toMatch(/1,523 nodes.*1,523.*1,523 nodes.*1,416,620 gpu-milli/)
    expect(said).not.toMatch(/\d{4}/)
  })

  it('adds the result of preemption, also beside the map', () => {
    const headline: Explanation['headline'] = {
      kind: 'noNode',
      pod: 'web',
      evaluated: 12,
      total: 12,
      rejecters: [{ plugin: 'NodeResourcesFit', nodes: 12 }],
    }
    const cycle = sampleCycle({
      explanation: explained({ headline, remarks: [{ kind: 'room', node: 'node-b1', victims: 1 }] }),
    })
    const said =
      'web fits no node: 12 nodes rejected, 12 by NodeResourcesFit. Preemption makes room on node-b1 by removing 1 pod.'
    expect([text(cycle), text(cycle, true)]).toEqual([said, said])
  })
})
