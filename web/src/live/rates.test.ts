import { describe, expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { condense, factsOf, Rates, Samples } from './rates'

const at = (second: number) => new Date(second * 1000).toISOString()
function summary(name: string, second: number, more: Partial<Summary> = {}): Summary {
  return { pod: { namespace: 'shop', name, uid: name }, attempt: 1, profile: 'default-scheduler', startTime: at(second), durationSeconds: 0.01, outcome: 'scheduled', nodes: { total: 3, evaluated: 3, feasible: 1 }, ...more }
}
const events = (...items: Summary[]) => ({ type: 'events' as const, id: 'results', events: items.map((object) => ({ type: 'ADDED' as const, object })) })

describe('Rates', () => {
  it('counts cycles and bound pods in the second in which they ended', () => {
    const rates = new Rates()
    rates.apply({ type: 'list', id: 'results', items: [summary('b', 101), summary('a', 100)], first: true })
    rates.apply(events(summary('c', 101.995), summary('d', 102, { outcome: 'unschedulable' })))
    expect(rates.series(104, 5)).toEqual({ cycles: [0, 1, 1, 2, 0], bound: [0, 1, 1, 1, 0] })
    expect(rates.from).toBe(0)
  })
  it('counts nothing twice: neither a list after a reconnect, nor a pod that waited', () => {
    const rates = new Rates()
    rates.apply({ type: 'list', id: 'results', items: [summary('a', 100, { outcome: 'waiting' })], first: true })
    rates.apply(events(summary('a', 100, { durationSeconds: 2 })))
    rates.apply({ type: 'list', id: 'results', items: [summary('a', 100, { durationSeconds: 2 })], first: true })
    expect(rates.series(103, 3)).toEqual({ cycles: [1, 0, 0], bound: [0, 0, 1] })
  })
  it('reports the first second with complete counts', () => {
    const rates = new Rates()
    rates.apply({ type: 'list', id: 'results', items: Array.from({ length: 500 }, (_, i) => summary(`p${i}`, 200 + Math.floor(i / 100))), first: true })
    expect(rates.from).toBe(201)
  })
})

describe('Samples', () => {
  it('keeps a value until the next, and has none before the first', () => {
    const samples = new Samples()
    samples.set(11, 5)
    samples.set(13, 7)
    expect(samples.series(15, 5)).toEqual([undefined, 5, 5, 7, 7])
    expect(factsOf(samples.series(15, 5))).toEqual({ mean: 6, peak: 7 })
    expect(condense(samples.series(15, 5), 2)).toEqual([5, 6, 7])
  })
})
