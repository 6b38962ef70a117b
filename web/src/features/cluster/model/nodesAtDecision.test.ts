import { describe, expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { addedAfter, nodesAtDecision, placementTimes, verdictsAtDecision } from './nodesAtDecision'
import { verdicts } from '@/features/decision/model/cycle'
import { explained, sampleCycle } from '@/features/decision/model/testing'
import { buildCluster, node, pod, requests } from '@/kubernetes/testing'

const moment = '2026-01-01T10:00:05.500Z'
const on = (name: string, uid: string, created: string) =>
  pod(name, { ...requests('1'), nodeName: 'n1' }, {}, { uid, creationTimestamp: created })
const pods = [
  on('before', 'u1', '2026-01-01T10:00:04Z'),
  on('same-second', 'u2', '2026-01-01T10:00:05Z'),
  on('known-later', 'u3', '2026-01-01T10:00:05Z'),
  on('after', 'u4', '2026-01-01T10:00:06Z'),
  on('decided', 'me', '2026-01-01T10:00:03Z'),
]
const { nodes } = buildCluster(
  new Map([
    ['n1', node('n1')],
    ['n2', node('n2')],
  ]),
  new Map(pods.map((p) => [p.metadata.name, p]))
)
const cycle = sampleCycle({
  startTime: moment,
  pod: { namespace: 'default', name: 'decided', uid: 'me' },
  selectedNode: 'n1',
  explanation: explained(),
})
const placed = placementTimes([
  { ...cycle, pod: { ...cycle.pod, uid: 'u3' }, startTime: '2026-01-01T10:00:05.600Z' } as Summary,
])

describe('the map at a decision', () => {
  const [first, second] = nodesAtDecision(nodes, cycle, placed)
  it('has the pods of that time, and does not count the decided pod', () => {
    expect(first?.podList.map((p) => p.metadata.name)).toEqual(['before', 'decided', 'same-second'])
    expect(first?.cpu.requested).toBe(2)
    expect(first?.pods.requested).toBe(2)
  })
  it('keeps a node unchanged if no pod was placed on it since', () => {
    expect(second).toBe(nodes[1])
  })
  it('uses the values that a plugin compared', () => {
    const compared = {
      node: 'n2',
      plugin: 'NodeResourcesFit',
      resources: [{ name: 'cpu', requested: 4000, inUse: 6500, allocatable: 8000 }],
    }
    const [, then] = nodesAtDecision(
      nodes,
      { ...cycle, filter: { plugins: [], nodes: [], states: [], reasons: [], comparisons: [compared] } },
      placed
    )
    expect(then?.cpu).toMatchObject({ requested: 6.5, allocatable: 8 })
  })
})

describe('the verdicts at a decision', () => {
  const created = (name: string, creationTimestamp?: string) => {
    const one = node(name)
    return { ...one, metadata: { ...one.metadata, ...(creationTimestamp && { creationTimestamp }) } }
  }
  const cluster = (...all: ReturnType<typeof created>[]) =>
    buildCluster(new Map(all.map((n) => [n.metadata.name, n])), new Map()).nodes
  const present = cluster(
    created('early', '2026-01-01T09:00:00Z'),
    created('same-second', '2026-01-01T10:00:05Z'),
    created('later', '2026-01-01T10:00:06Z'),
    created('unknown')
  )
  const stopped = sampleCycle({
    startTime: moment,
    explanation: explained({ notEvaluated: { nodes: 2, why: 'enoughFeasibleNodes', wanted: 6 } }),
  })
  const verdictsOn = (all: typeof present) => verdictsAtDecision(verdicts(stopped), addedAfter(stopped, all))
  it('say of a node that came later that it was not there, even if the search left nodes out', () => {
    const verdictOf = verdictsOn(present)
    expect(verdictOf('later')).toEqual({ kind: 'absent', later: true })
    for (const name of ['early', 'same-second', 'unknown']) expect(verdictOf(name).kind).toBe('notEvaluated')
  })
  it('do not confuse a node with an earlier one of its name', () => {
    expect(verdictsOn(cluster(created('node-b2', '2026-01-01T10:00:06Z')))('node-b2')).toEqual({
      kind: 'absent',
      later: true,
    })
    expect(verdictsOn(cluster(created('node-b2', '2026-01-01T09:00:00Z')))('node-b2')).toMatchObject({
      kind: 'scored',
      chosen: true,
    })
  })
})
