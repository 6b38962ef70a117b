import { describe, expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { quotaDecisions, quotaFacts, rulesOf, type QuotaFacts } from './facts'

const fact = (key: string, value: string) => ({ plugin: 'CapacityScheduling', key, value })
const amounts = (used: number, requested: number, min: number, max?: number, nominated = 0) =>
  `used ${used}, nominated ${nominated}, requested ${requested}, min ${min}${max === undefined ? '' : `, max ${max}`}`
const rejected = {
  facts: [
    fact('quota', 'team'),
    fact('exceeded', 'total'),
    fact('takes', 'borrowed'),
    fact('own cpu', amounts(28000, 4000, 36000, 60000)),
    fact('own memory', amounts(1, 1, 2)),
    fact('all cpu', amounts(115500, 4000, 116000)),
    fact('namespace edge cpu', amounts(4000, 0, 12000, 16000)),
    fact('namespace shop cpu', amounts(51500, 0, 40000, 80000)),
  ],
}

describe('quotaFacts', () => {
  it('reads the arithmetic, those that borrow first', () => {
    const facts = quotaFacts(rejected) as QuotaFacts
    expect([facts.quota, facts.exceeded, facts.takes, facts.others.map(({ namespace }) => namespace)]).toEqual([
      'team',
      'total',
      'borrowed',
      ['shop', 'edge'],
    ])
    expect(facts.own[0]).toEqual({
      resource: 'cpu',
      used: 28000,
      nominated: 0,
      requested: 4000,
      min: 36000,
      max: 60000,
    })
    expect(facts.own[1]?.max).toBeUndefined()
  })
  it('knows from the arithmetic from whom a pod that passed may take', () => {
    const passed = (used: number) =>
      quotaFacts({ facts: [fact('quota', 'team'), fact('own cpu', amounts(used, 2000, 4000, 6000))] })?.takes
    expect([passed(2000), passed(4000)]).toEqual(['borrowed', 'own'])
  })
  it('is undefined without the plugin, and skips what it cannot read', () => {
    expect(quotaFacts({ facts: [] })).toBeUndefined()
    expect(quotaFacts({ facts: [fact('quota', 'team'), fact('own cpu', 'used a lot')] })?.own).toEqual([])
  })
})

it('finds the resource that breaks a rule', () => {
  const { max, total } = rulesOf(quotaFacts(rejected) as QuotaFacts)
  expect([max?.sum.resource, max?.limit, max?.broken]).toEqual(['cpu', 60000, false])
  expect([total?.sum.resource, total?.limit, total?.broken]).toEqual(['cpu', 116000, true])
})

it('lists the pods that a quota rejected or that preempt, one attempt each', () => {
  const attempt = (name: string, n: number, more: Partial<Summary>): Summary =>
    ({ pod: { namespace: 'batch', name, uid: name }, attempt: n, outcome: 'unschedulable', ...more }) as Summary
  const refusal = { extensionPoint: 'preFilter', plugin: 'CapacityScheduling' } as Summary['refusal'] & object
  const found = quotaDecisions(
    [
      attempt('b', 3, { outcome: 'scheduled' }),
      attempt('b', 2, { refusal }),
      attempt('b', 1, { refusal, nominatedNode: 'n' }),
      attempt('a', 2, { refusal }),
      attempt('a', 1, { refusal }),
      attempt('c', 1, { nominatedNode: 'n' }),
    ],
    new Set(['batch'])
  )
  expect(found.map(({ pod, attempt: n }) => `${pod.name} ${n}`)).toEqual(['b 1', 'a 2', 'c 1'])
  expect(quotaDecisions([attempt('c', 1, { nominatedNode: 'n' })], new Set())).toEqual([])
})
