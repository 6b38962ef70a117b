import { describe, expect, it } from 'vitest'
import { applyPatch, fieldPath, PatchError, stepsBetween, type Patch } from './patch'

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
  it.each<[what: string, patch: Patch, path: (of: typeof pod) => unknown, expected: unknown]>([
    ['changes one container by its name', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] } }, (p) => p.spec.containers, [{ name: 'c', image: 'i', resources: { requests: { cpu: '1', memory: '1Gi' } } }, { name: 'd', image: 'j' }]],
    ['adds a container that is not there', { spec: { containers: [{ name: 'e' }] } }, (p) => p.spec.containers.length, 3],
    ['deletes an item', { spec: { containers: [{ name: 'd', $patch: 'delete' }] } }, (p) => p.spec.containers.map((c) => c.name), ['c']],
    ['merges spread constraints by their topology key', { spec: { topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 3 }] } }, (p) => p.spec.topologySpreadConstraints, [{ topologyKey: 'zone', maxSkew: 3 }]],
    ['replaces a list without a key', { spec: { tolerations: [{ key: 'b' }] } }, (p) => p.spec.tolerations, [{ key: 'b' }]],
    ['replaces a list with a key if it says so', { spec: { containers: [{ $patch: 'replace' }, { name: 'only' }] } }, (p) => p.spec.containers, [{ name: 'only' }]],
    ['removes a field with null', { spec: { nodeSelector: null } }, (p) => p.spec.nodeSelector, undefined],
    ['removes what a directive deletes', { spec: { nodeSelector: { $patch: 'delete' } } }, (p) => p.spec.nodeSelector, undefined],
    ['creates the way to a new field', { spec: { affinity: { nodeAffinity: { a: [1] } } } }, (p) => (p.spec as { affinity?: unknown }).affinity, { nodeAffinity: { a: [1] } }],
    ['keeps only the keys that it retains', { spec: { nodeSelector: { $retainKeys: ['arch'], arch: 'arm64' } } }, (p) => p.spec.nodeSelector, { arch: 'arm64' }],
  ])('%s', (_what, patch, path, expected) => {
    const before = structuredClone(pod)
    expect(path(applyPatch(pod, patch))).toEqual(expected)
    expect(pod).toEqual(before)
  })
})

describe('a JSON Patch', () => {
  it.each<[what: string, change: (of: typeof pod) => void, steps: unknown]>([
    ['names the field', (p) => ((p.spec.containers[0] as { resources: { requests: { cpu: string } } }).resources.requests.cpu = '1'), [{ op: 'replace', path: '/spec/containers/0/resources/requests/cpu', value: '1' }]],
    ['escapes a key', (p) => (p.metadata.labels['example.com/tier'] = 'y'), [{ op: 'replace', path: '/metadata/labels/example.com~1tier', value: 'y' }]],
    ['removes a field', (p) => Reflect.deleteProperty(p.spec, 'nodeSelector'), [{ op: 'remove', path: '/spec/nodeSelector' }]],
    ['adds a field', (p) => Object.assign(p.spec, { priority: 1 }), [{ op: 'add', path: '/spec/priority', value: 1 }]],
    ['replaces a list of another length', (p) => p.spec.tolerations.pop(), [{ op: 'replace', path: '/spec/tolerations', value: [] }]],
    ['is empty for no change', () => {}, []],
  ])('%s', (_what, change, steps) => {
    const after = structuredClone(pod)
    change(after)
    expect(stepsBetween(pod, after)).toEqual(steps)
    expect(applyPatch(pod, stepsBetween(pod, after))).toEqual(after)
  })

  it('inserts into and removes from lists', () => {
    expect(applyPatch({ a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }, { op: 'add', path: '/a/-', value: 4 }, { op: 'remove', path: '/a/0' }])).toEqual({ a: [2, 3, 4] })
  })
  it.each(['/spec/gone', '/spec/containers/7/image', '/spec/gone/deeper', '/metadata/name/deeper'])('does not replace %s, which does not exist', (path) => {
    expect(() => applyPatch(pod, [{ op: 'replace', path, value: 1 }])).toThrow(PatchError)
  })
})

it('writes a pointer as a field path', () => {
  expect(['/spec/containers/0/image', '/metadata/labels/example.com~1tier'].map(fieldPath)).toEqual(['spec.containers[0].image', 'metadata.labels[example.com/tier]'])
})
