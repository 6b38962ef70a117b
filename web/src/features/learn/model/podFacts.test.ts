import { expect, it } from 'vitest'
import { node, pod, requests } from '@/kubernetes/testing'
import { groupsOf, labelsOf, specText, taintsOf, tolerationsOf } from './podFacts'

it('shows the labels that tell nodes apart', () => {
  expect(
    labelsOf(node('a', { 'kubernetes.io/hostname': 'a', 'topology.kubernetes.io/zone': 'z', disk: 'ssd', gpu: '' }))
  ).toEqual(['disk=ssd', 'gpu'])
})

it('counts pods by their labels, or names them', () => {
  const app = { labels: { app: 'web' } }
  expect(groupsOf([pod('a', {}, {}, app), pod('b', {}, {}, app), pod('c')])).toEqual([
    { name: 'app=web', count: 2 },
    { name: 'c', count: 1 },
  ])
})

it('writes tolerations as taints', () => {
  const tolerations = [
    { key: 'gpu', value: 'yes', effect: 'NoSchedule' },
    { key: 'spot', operator: 'Exists' },
    { operator: 'Exists' },
  ]
  expect(tolerationsOf(pod('a', { tolerations }))).toEqual(['gpu=yes:NoSchedule', 'spot', '*'])
  expect(tolerationsOf(pod('a'))).toEqual([])
})

it('leaves out of the spec what says nothing about the node', () => {
  const spec = {
    ...requests('1'),
    nodeSelector: { disk: 'ssd' },
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
  }
  expect(specText(pod('a', spec as never))).toBe(
    'spec:\n  nodeSelector:\n    disk: ssd\n  containers:\n    - resources:\n        requests:\n          cpu: "1"\n          memory: 1Gi\n'
  )
})

it('names the taint of a cordoned node only once', () => {
  const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }
  expect(taintsOf({ taints: [cordon], unschedulable: true })).toEqual([])
  expect(taintsOf({ taints: [cordon], unschedulable: false })).toEqual([cordon])
})
