import { expect, it } from 'vitest'
import { comparisons, noteOf, resourceLines, termText, type Comparison } from './pluginComparison'
import { sampleCycle } from './testing'

const fit: Comparison = {
  node: 'node-a1',
  plugin: 'NodeResourcesFit',
  resources: [
    { name: 'cpu', requested: 1500, inUse: 14700, allocatable: 16000 },
    { name: 'memory', requested: 3 * 2 ** 30, inUse: 36 * 2 ** 30, allocatable: 64 * 2 ** 30 },
  ],
}

it('computes the missing amount of a resource', () => {
  expect(resourceLines(fit)).toEqual([
    {
      name: 'cpu',
      allocatable: '16',
      inUse: '14.7',
      requested: '1.5',
      total: '16.2',
      left: '−0.2',
      short: true,
      held: 14_700,
    },
    {
      name: 'memory',
      allocatable: '64 Gi',
      inUse: '36 Gi',
      requested: '3 Gi',
      total: '39 Gi',
      left: '25 Gi',
      short: false,
      held: 36 * 2 ** 30,
    },
  ])
  expect(noteOf(fit)).toEqual({ kind: 'short', resource: 'cpu', amount: '0.2' })
})

it('names the taint and the label', () => {
  expect(noteOf({ node: 'n', plugin: 'p', taint: { key: 'dedicated', value: 'batch', effect: 'NoSchedule' } })).toEqual(
    { kind: 'taint', text: 'dedicated=batch' }
  )
  const term = { source: 'nodeAffinity', term: 0, key: 'arch', operator: 'In', values: ['amd64'], actual: 'arm64' }
  expect(noteOf({ node: 'n', plugin: 'p', terms: [term] })).toEqual({ kind: 'term', key: 'arch', actual: 'arm64' })
  const request = {
    claim: 'gpu',
    request: 'gpu',
    deviceClass: 'gpu',
    count: 1,
    matching: 2,
    matchingInUse: 1,
    drivers: [{ driver: 'gpu.example.com', onNode: 2, inUse: 1 }],
  }
  expect(noteOf({ node: 'n', plugin: 'p', devices: [request] })).toEqual({ kind: 'devices', onNode: 2, inUse: 1 })
  expect(termText(term)).toBe('arch In [amd64]')
  expect(noteOf({ node: 'n', plugin: 'p' })).toBeUndefined()
})

it('says what pods, domains and volumes are in the way', () => {
  const note = (found: Partial<Comparison>) => noteOf({ node: 'n', plugin: 'p', ...found })
  const term = {
    rule: 'antiAffinity',
    topologyKey: 'zone',
    domain: 'z1',
    selector: 'app=web',
    pod: { namespace: 'default', name: 'web-1', uid: 'u' },
  }
  expect(note({ podTerms: [term] })).toEqual({ kind: 'podTerm', rule: 'antiAffinity', domain: 'zone=z1', pod: 'web-1' })
  expect(note({ podTerms: [{ ...term, domain: null }] })).toEqual({ kind: 'term', key: 'zone', actual: null })
  const spread = { topologyKey: 'zone', domain: 'z1', matching: 3, minimum: 1, maximum: 4, self: 1, maxSkew: 2 }
  expect(note({ spread: [spread] })).toEqual({
    kind: 'spread',
    domain: 'zone=z1',
    matching: 3,
    minimum: 1,
    fewest: '',
    few: undefined,
  })
  expect(
    note({ spread: [{ ...spread, domains: 3, minDomains: 0, fewest: [{ name: 'z2' }], fewestCount: 1 }] })
  ).toMatchObject({ fewest: 'zone=z2', few: undefined })
  expect(note({ spread: [{ ...spread, domains: 2, minDomains: 3 }] })).toMatchObject({
    few: { domains: 2, minDomains: 3 },
  })
  expect(note({ spread: [{ ...spread, domain: null }] })).toEqual({ kind: 'term', key: 'zone', actual: null })
  const claim = { claim: 'data', storageClass: 'fast', requested: 2 ** 31, provisionable: false }
  expect(note({ claims: [claim] })).toEqual({ kind: 'claim', claim: 'data', largest: undefined })
  expect(note({ claims: [{ ...claim, provisionable: true, largest: 2 ** 30 }] })).toEqual({
    kind: 'claim',
    claim: 'data',
    largest: '1 Gi',
  })
})

it('finds a comparison by node and plugin', () => {
  const cycle = sampleCycle()
  if (cycle.filter) cycle.filter.comparisons = [fit]
  const of = comparisons(cycle)
  expect([of('node-a1', 'NodeResourcesFit'), of('node-a1', 'NodeAffinity')]).toEqual([fit, undefined])
})
