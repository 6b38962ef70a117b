import { expect, it } from 'vitest'
import type { KubeObject } from '@/api/types'
import { fieldsBetween } from '@/kubernetes/patch'
import { editable, edited } from './editing'

const own = 'kube-scheduler-simulator.sigs.k8s.io/filter-result'
const node: KubeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'n1',
    uid: 'u',
    resourceVersion: '7',
    labels: { pool: 'a' },
    annotations: { [own]: '{}', note: 'x' },
  },
  spec: { podCIDR: '10.0.0.0/24' },
  status: { capacity: { cpu: '8' }, allocatable: { cpu: '8' }, conditions: [{ type: 'Ready' }] },
}
const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'shop', annotations: { [own]: '{}' } },
  spec: { priority: 0 },
  status: { phase: 'Pending' },
}

it('shows what a user may suppose', () => {
  expect(editable(node)).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', labels: { pool: 'a' }, annotations: { note: 'x' } },
    spec: { podCIDR: '10.0.0.0/24' },
    status: { capacity: { cpu: '8' }, allocatable: { cpu: '8' } },
  })
  expect(editable(pod)).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'shop' },
    spec: { priority: 0 },
  })
})

it.each([node, pod])('changes nothing when nothing was edited', (object) => {
  expect(fieldsBetween(object, edited(object, editable(object)))).toEqual([])
})

it('changes exactly what was edited', () => {
  const text = editable(node)
  const then = edited(node, {
    ...text,
    metadata: { name: 'n1' },
    spec: { unschedulable: true },
    status: { allocatable: { cpu: '16' } },
  })
  expect(fieldsBetween(node, then)).toEqual([
    { path: 'metadata.labels', from: { pool: 'a' }, to: undefined },
    { path: 'metadata.annotations.note', from: 'x', to: undefined },
    { path: 'spec.podCIDR', from: '10.0.0.0/24', to: undefined },
    { path: 'spec.unschedulable', from: undefined, to: true },
    { path: 'status.allocatable.cpu', from: '8', to: '16' },
  ])
})
