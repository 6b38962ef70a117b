import { expect, it } from 'vitest'
import { recreated } from './recreate'

it('takes the nodes from pods that run, and keeps everything else', () => {
  const node = { kind: 'Node', metadata: { name: 'a' }, status: { phase: 'Running' } }
  const done = { kind: 'Pod', spec: { nodeName: 'a' }, status: { phase: 'Succeeded' } }
  const runs = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { nodeName: 'a', priority: 3 },
    status: {},
  }
  expect(
    recreated({ items: [node, done, runs], schedulerConfiguration: { kind: 'KubeSchedulerConfiguration' } })
  ).toEqual({
    objects: [
      node,
      done,
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { priority: 3, nodeName: undefined } },
    ],
    configuration: '{"kind":"KubeSchedulerConfiguration"}',
  })
})
