import { describe, expect, it } from 'vitest'
import type { Suggestion } from '@/api/types'
import { adopt } from './adopt'

const text = `# mine
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  nodeSelector: {disk: ssd}
  containers:
  - name: c # the only one
    image: i
    resources:
      requests: {cpu: 15, memory: 2048Mi}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: other
`
const container = (cpu: string) => ({
  name: 'c',
  image: 'i',
  imagePullPolicy: 'Always',
  resources: { requests: { cpu, memory: '2Gi' } },
  volumeMounts: [{ name: 'kube-api-access-x', mountPath: '/x' }],
})
const suggestion = (spec: object, kind: Suggestion['kind'] = 'pod'): Suggestion => ({
  kind,
  text: '',
  steps: [],
  changes: [
    {
      apply: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'web', namespace: 'default' },
        spec: { restartPolicy: 'Always', nodeSelector: { disk: 'ssd' }, containers: [container('15')], ...spec },
      },
    },
  ],
  hypothesis: [],
  nodes: ['a'],
  selectedNode: 'a',
})
const entry = { kind: 'Pod', name: 'web' }

describe('a suggestion becomes part of the text', () => {
  it('changes an amount, and nothing that the API server only completed', () => {
    expect(adopt(text, entry, suggestion({ containers: [container('11300m')] }))).toBe(
      text.replace('cpu: 15', 'cpu: 11300m')
    )
  })
  it('removes a selector', () => {
    expect(adopt(text, entry, suggestion({ nodeSelector: undefined }))).toBe(
      text.replace('  nodeSelector: {disk: ssd}\n', '')
    )
  })
  it('adds a toleration', () => {
    const adopted = adopt(
      text,
      entry,
      suggestion({
        tolerations: [
          { key: 'gpu', operator: 'Exists', effect: 'NoSchedule' },
          { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        ],
      })
    )
    expect(adopted).toContain('  tolerations:\n  - key: gpu\n    operator: Exists\n    effect: NoSchedule\n')
    expect(adopted).not.toContain('not-ready')
    expect(adopted).toContain('# the only one')
  })
})

it.each<[what: string, of: Parameters<typeof adopt>]>([
  ['of a node', [text, entry, suggestion({}, 'node')]],
  ['that changes nothing', [text, entry, suggestion({})]],
  ['for a pod that is not in the text', [text, { kind: 'Pod', name: 'gone' }, suggestion({ nodeSelector: undefined })]],
  ['for text that cannot be read', ['\t', entry, suggestion({ nodeSelector: undefined })]],
])('a suggestion %s is not taken over', (_what, of) => {
  expect(adopt(...of)).toBeUndefined()
})
