import { expect, it } from 'vitest'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import { sampleCycle } from '@/features/decision/model/testing'
import { viewNode } from '@/kubernetes/cluster'
import { nearnessOf } from './nearness'

const gpu = 'example.com/gpu'
const node = (name: string, cpu: string, gpus?: string) =>
  viewNode(
    {
      metadata: { name },
      status: { allocatable: { cpu, memory: '8Gi', pods: '110', ...(gpus && { [gpu]: gpus }) } },
    } as never,
    []
  )
const nodes = [
  node('near', '7', '4'),
  node('far', '1', '4'),
  node('none', '16'),
  node('middle', '6', '4'),
  node('taint', '16', '4'),
]
const verdictOf = (name: string): NodeVerdict => ({
  kind: 'rejected',
  plugin: name === 'taint' ? 'TaintToleration' : 'NodeResourcesFit',
  reason: '',
})
const nowhere = sampleCycle({
  outcome: 'unschedulable',
  nodes: { total: 5, evaluated: 5, feasible: 0 },
  filter: {
    plugins: [],
    nodes: [],
    states: [],
    reasons: [],
    comparisons: [
      {
        node: 'near',
        plugin: 'NodeResourcesFit',
        resources: [{ name: 'cpu', requested: 8000, inUse: 0, allocatable: 7000 }],
      },
    ],
  },
})
const ask = new Map([
  ['cpu', 8],
  [gpu, 1],
])

it('shades nodes that lack amounts, the nearest most, and puts last those that have none of a resource', () => {
  const found = nearnessOf(nodes, { cycle: nowhere, verdictOf, ask })
  const levels = Object.fromEntries(nodes.map(({ name }) => [name, found?.levelOf(name)]))
  expect(levels.taint).toBeUndefined()
  expect(levels.none).toBe(0)
  expect(levels.near).toBe(5)
  expect(levels.middle).toBeLessThan(5)
  expect(levels.far).toBeLessThan(levels.middle ?? 0)
  expect(levels.far).toBeGreaterThan(0)
  expect(found?.none).toBe(1)
})

it('shades nothing for a pod that fits somewhere, or that amounts do not keep off', () => {
  const fits = { ...nowhere, nodes: { total: 5, evaluated: 5, feasible: 1 } }
  expect(nearnessOf(nodes, { cycle: fits, verdictOf, ask })).toBeUndefined()
  const tainted = () => verdictOf('taint')
  expect(nearnessOf(nodes, { cycle: nowhere, verdictOf: tainted, ask })).toBeUndefined()
})
