import { describe, expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { nodesAtDecision, placementTimes } from './nodesAtDecision'
import { explained, sampleCycle } from '@/features/decision/model/testing'
import { buildCluster, node, pod, requests } from '@/kubernetes/testing'

const moment = '2026-01-01T10:00:05.500Z'
const on = (name: string, uid: string, created: string) => pod(name, { ...requests('1'), nodeName: 'n1' }, {}, { uid, creationTimestamp: created })
const pods = [
  on('before', 'u1', '2026-01-01T10:00:04Z'),
  on('same-second', 'u2', '2026-01-01T10:00:05Z'),
  on('known-later', 'u3', '2026-01-01T10:00:05Z'),
  on('after', 'u4', '2026-01-01T10:00:06Z'),
  on('decided', 'me', '2026-01-01T10:00:03Z'),
]
const { nodes } = buildCluster(new Map([['n1', node('n1')], ['n2', node('n2')]]), new Map(pods.map((p) => [p.metadata.name, p])))
const cycle = sampleCycle({ startTime: moment, pod: { namespace: 'default', name: 'decided', uid: 'me' }, selectedNode: 'n1', explanation: explained() })
const placed = placementTimes([{ ...cycle, pod: { ...cycle.pod, uid: 'u3' }, startTime: '2026-01-01T10:00:05.600Z' } as Summary])

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
    const compared = { node: 'n2', plugin: 'NodeResourcesFit', resources: [{ name: 'cpu', requested: 4000, inUse: 6500, allocatable: 8000 }] }
    const [, then] = nodesAtDecision(nodes, { ...cycle, filter: { plugins: [], nodes: [], states: [], reasons: [], comparisons: [compared] } }, placed)
    expect(then?.cpu).toMatchObject({ requested: 6.5, allocatable: 8 })
  })
})
