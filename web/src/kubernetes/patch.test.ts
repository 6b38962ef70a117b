import { describe, expect, it } from 'vitest'
import { applyPatch, fieldsBetween, patchFromTo } from './patch'

const pod = {
  metadata: { name: 'a', labels: { app: 'web', 'example.com/tier': 'x' } },
  spec: {
    containers: [
      { name: 'c', image: 'i', resources: { requests: { cpu: '2', memory: '1Gi' } } },
      { name: 'd', image: 'j' },
    ],
    tolerations: [{ key: 'a', operator: 'Exists' }],
    topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1 }],
    nodeSelector: { disk: 'ssd' },
  },
}

describe('a strategic merge patch', () => {
  it.each<[what: string, patch: Record<string, unknown>, path: (of: typeof pod) => unknown, expected: unknown]>([
    [
      'changes one container by its name',
      { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] } },
      (p) => p.spec.containers,
      [
        { name: 'c', image: 'i', resources: { requests: { cpu: '1', memory: '1Gi' } } },
        { name: 'd', image: 'j' },
      ],
    ],
    [
      'adds a container that is not there',
      { spec: { containers: [{ name: 'e' }] } },
      (p) => p.spec.containers.length,
      3,
    ],
    [
      'deletes an item',
      { spec: { containers: [{ name: 'd', $patch: 'delete' }] } },
      (p) => p.spec.containers.map((c) => c.name),
      ['c'],
    ],
    [
      'merges spread constraints by their topology key',
      { spec: { topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 3 }] } },
      (p) => p.spec.topologySpreadConstraints,
      [{ topologyKey: 'zone', maxSkew: 3 }],
    ],
    [
      'replaces a list without a key',
      { spec: { tolerations: [{ key: 'b' }] } },
      (p) => p.spec.tolerations,
      [{ key: 'b' }],
    ],
    [
      'replaces a list with a key if it says so',
      { spec: { containers: [{ $patch: 'replace' }, { name: 'only' }] } },
      (p) => p.spec.containers,
      [{ name: 'only' }],
    ],
    ['removes a field with null', { spec: { nodeSelector: null } }, (p) => p.spec.nodeSelector, undefined],
    [
      'removes what a directive deletes',
      { spec: { nodeSelector: { $patch: 'delete' } } },
      (p) => p.spec.nodeSelector,
      undefined,
    ],
    [
      'creates the way to a new field',
      { spec: { affinity: { nodeAffinity: { a: [1] } } } },
      (p) => (p.spec as { affinity?: unknown }).affinity,
      { nodeAffinity: { a: [1] } },
    ],
    [
      'keeps only the keys that it retains',
      { spec: { nodeSelector: { $retainKeys: ['arch'], arch: 'arm64' } } },
      (p) => p.spec.nodeSelector,
      { arch: 'arm64' },
    ],
  ])('%s', (_what, patch, path, expected) => {
    const before = structuredClone(pod)
    expect(path(applyPatch(pod, patch) as unknown as typeof pod)).toEqual(expected)
    expect(pod).toEqual(before)
  })
})

describe('the difference', () => {
  it.each<[what: string, change: (of: typeof pod) => void, patch: unknown]>([
    [
      'changes one container',
      (p) => ((p.spec.containers[0] as { image: string }).image = 'k'),
      { spec: { containers: [{ name: 'c', image: 'k' }] } },
    ],
    ['deletes one', (p) => p.spec.containers.pop(), { spec: { containers: [{ name: 'd', $patch: 'delete' }] } }],
    [
      'adds one at the end',
      (p) => p.spec.containers.push({ name: 'e', image: 'l' }),
      { spec: { containers: [{ name: 'e', image: 'l' }] } },
    ],
    [
      'replaces the list when the order matters',
      (p) => p.spec.containers.reverse(),
      { spec: { containers: [{ $patch: 'replace' }, pod.spec.containers[1], pod.spec.containers[0]] } },
    ],
    [
      'replaces the list when its keys are not unique',
      (p) => p.spec.topologySpreadConstraints.push({ topologyKey: 'zone', maxSkew: 2 }),
      {
        spec: {
          topologySpreadConstraints: [
            { $patch: 'replace' },
            { topologyKey: 'zone', maxSkew: 1 },
            { topologyKey: 'zone', maxSkew: 2 },
          ],
        },
      },
    ],
    ['replaces a list without a key', (p) => p.spec.tolerations.pop(), { spec: { tolerations: [] } }],
    ['removes a field', (p) => Reflect.deleteProperty(p.spec, 'nodeSelector'), { spec: { nodeSelector: null } }],
    ['is empty', () => {}, {}],
  ])('%s', (_what, change, patch) => {
    const after = structuredClone(pod)
    change(after)
    expect(patchFromTo(pod, after)).toEqual(patch)
    expect(applyPatch(pod, patchFromTo(pod, after))).toEqual(after)
  })

  it('names the fields', () => {
    const after = structuredClone(pod)
    after.metadata.labels['example.com/tier'] = 'y'
    ;(after.spec.containers[1] as { image: string }).image = 'k'
    after.spec.tolerations = []
    expect(fieldsBetween(pod, after)).toEqual([
      { path: 'metadata.labels[example.com/tier]', from: 'x', to: 'y' },
      { path: 'spec.containers[1].image', from: 'j', to: 'k' },
      { path: 'spec.tolerations', from: pod.spec.tolerations, to: [] },
    ])
  })
})
