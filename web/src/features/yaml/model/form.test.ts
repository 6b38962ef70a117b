import { describe, expect, it } from 'vitest'
import { formOf, withAdded, withoutField, withValue, type FormField, type Path } from './form'

const text = `# A pod.
apiVersion: v1
kind: Pod
metadata:
  name: web # its name
  labels:
    app.kubernetes.io/name: web
spec:
  priority: 10
  hostNetwork: false
  nodeName:
  containers:
  - {name: c, image: 'a:1'}
  note: |
    two
    lines
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`
const field = (label: string, of = text) =>
  formOf(of)
    ?.flatMap((d) => d.fields)
    .find((f) => f.label === label) as FormField

describe('formOf', () => {
  it('finds the fields of each document, maps and lists before their entries', () => {
    const line = (f: FormField) =>
      f.kind === 'scalar' ? `${f.label}=${String(f.value)}` : `${f.label} (${f.kind}${f.size ? ` ${f.size}` : ''})`
    expect(formOf(text)?.map((d) => `${d.apiVersion} ${d.kind} ${d.name}: ${d.fields.map(line).join(' ')}`)).toEqual([
      'v1 Pod web: apiVersion=v1 kind=Pod metadata (map 2) metadata.name=web metadata.labels (map 1) ' +
        'metadata.labels[app.kubernetes.io/name]=web spec (map 5) spec.priority=10 spec.hostNetwork=false ' +
        'spec.nodeName=null spec.containers (list 1) spec.containers[0] (map 2) spec.containers[0].name=c ' +
        'spec.containers[0].image=a:1 spec.note (other)',
      'v1 Namespace shop: apiVersion=v1 kind=Namespace metadata (map 1) metadata.name=shop',
    ])
  })
  it('returns nothing for a text that cannot be parsed', () => {
    expect(formOf('a: [\n')).toBeUndefined()
    expect(formOf('')).toEqual([])
  })
})

describe('withValue', () => {
  const changed = (label: string, typed: string, type: 'string' | 'number' | 'boolean' = 'string') => {
    const lines = text.split('\n')
    return withValue(text, field(label), typed, type)
      .split('\n')
      .filter((line, i) => line !== lines[i])
  }
  it('changes one value and nothing else', () => {
    expect(changed('metadata.name', 'api')).toEqual(['  name: api # its name'])
    expect(changed('spec.containers[0].image', 'b:2')).toEqual(['  - {name: c, image: b:2}'])
    expect(changed('spec.nodeName', 'n1')).toEqual(['  nodeName: n1'])
  })
  it('keeps the type of the field', () => {
    expect(changed('spec.priority', '20', 'number')).toEqual(['  priority: 20'])
    expect(changed('spec.hostNetwork', 'true', 'boolean')).toEqual(['  hostNetwork: true'])
    expect(changed('metadata.labels[app.kubernetes.io/name]', '20')).toEqual(['    app.kubernetes.io/name: "20"'])
  })
})

const pod = `# A pod.
kind: Pod
metadata:
  name: web # its name
  labels: {} # none yet

spec:
  # The only one.
  containers:
  - name: c # its name
    image: a:1
    args: [x]
  tolerations:
  nodeName: n # the node
---
kind: Other
spec:
- a
`

/** The lines that an edit removes (-) and adds (+). */
function difference(before: string, after: string): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end++
  return [
    ...old.slice(start, old.length - end).map((l) => `-${l}`),
    ...now.slice(start, now.length - end).map((l) => `+${l}`),
  ]
}

describe('withAdded', () => {
  const added = (path: Path, key: string | undefined, value: unknown, document = 0) =>
    difference(pod, withAdded(pod, document, path, key, value))
  it('adds a field below the last one of its map, after its comment', () => {
    expect(added(['spec'], 'priority', 5)).toEqual(['+  priority: 5'])
    expect(added(['metadata'], 'namespace', 'shop')).toEqual(['+  namespace: shop'])
    expect(added(['spec', 'containers', 0], 'resources', { requests: {} })).toEqual([
      '+    resources:',
      '+      requests: {}',
    ])
    expect(added([], 'status', {})).toEqual(['+status: {}'])
  })
  it('adds the first field of a map, and keeps the comment beside it', () => {
    expect(added(['metadata', 'labels'], 'app', 'web')).toEqual([
      '-  labels: {} # none yet',
      '+  labels: # none yet',
      '+    app: web',
    ])
  })
  it('adds items to lists, empty ones, those in brackets and those with dashes', () => {
    expect(added(['spec', 'containers'], undefined, { name: 'd', image: '' })).toEqual([
      '+  - name: d',
      '+    image: ""',
    ])
    expect(added(['spec', 'containers', 0, 'args'], undefined, 'y')).toEqual(['-    args: [x]', '+    args: [x, y]'])
    expect(added(['spec', 'tolerations'], undefined, { key: 'k' })).toEqual(['+  - key: k'])
    expect(added(['spec'], undefined, 'b', 1)).toEqual(['+- b'])
  })
  it('writes a string that looks like a number as a string', () => {
    expect(added(['spec'], 'version', '1.0')).toEqual(['+  version: "1.0"'])
  })
  it('does not add a field twice, nor to a text that cannot be parsed', () => {
    expect(added(['spec'], 'nodeName', 'm')).toEqual([])
    expect(withAdded('a: [\n', 0, [], 'b', 1)).toBe('a: [\n')
  })
  it('works at the end of a text without a line break, and in one-line maps', () => {
    expect(withAdded('kind: Pod\nspec:\n  a: 1', 0, ['spec'], 'b', 2)).toBe('kind: Pod\nspec:\n  a: 1\n  b: 2')
    expect(withAdded('metadata: {name: x}\n', 0, ['metadata'], 'labels', { a: 'b' })).toBe(
      'metadata: {name: x, labels: { a: b }}\n'
    )
    expect(withAdded('metadata: {labels: {}}\n', 0, ['metadata', 'labels'], 'a', 'b')).toBe(
      'metadata: {labels: {a: b}}\n'
    )
    expect(withAdded('list:\n- {}\n', 0, ['list', 0], 'a', 'b')).toBe('list:\n- a: b\n')
  })
})

describe('withoutField', () => {
  const removed = (path: Path, of = pod) => difference(of, withoutField(of, 0, path))
  it('removes a field with what it contains, and nothing else', () => {
    expect(removed(['spec', 'nodeName'])).toEqual(['-  nodeName: n # the node'])
    expect(removed(['spec', 'containers', 0, 'image'])).toEqual(['-    image: a:1'])
    expect(removed(['metadata', 'name'])).toEqual(['-  name: web # its name'])
  })
  it('keeps the dash when the first field of an item goes', () => {
    expect(removed(['spec', 'containers', 0, 'name'])).toEqual([
      '-  - name: c # its name',
      '-    image: a:1',
      '+  - image: a:1',
    ])
  })
  it('leaves an empty map or list behind the last one', () => {
    expect(removed(['spec', 'containers', 0])).toEqual([
      '-  containers:',
      '-  - name: c # its name',
      '-    image: a:1',
      '-    args: [x]',
      '+  containers: []',
    ])
    expect(removed(['spec', 'containers', 0, 'args', 0])).toEqual(['-    args: [x]', '+    args: []'])
    expect(withoutField('a:\n  b: 1 # c\n', 0, ['a', 'b'])).toBe('a: {}\n')
  })
  it('removes from one-line maps and lists, and several lines', () => {
    expect(withoutField('a: {b: 1, c: 2, d: 3}\n', 0, ['a', 'c'])).toBe('a: {b: 1, d: 3}\n')
    expect(withoutField('a: {b: 1, c: 2}\n', 0, ['a', 'c'])).toBe('a: {b: 1}\n')
    expect(withoutField('a:\n- 1\n- 2 # two\n- 3\n', 0, ['a', 1])).toBe('a:\n- 1\n- 3\n')
    expect(withoutField('a: |\n  x\n  y\nb: 1\n', 0, ['a'])).toBe('b: 1\n')
  })
})

it('undoes what it added, for every map and list of a text', () => {
  for (const document of formOf(pod) ?? []) {
    for (const { path, kind, size } of document.fields.filter(
      (f) => (f.kind === 'map' || f.kind === 'list') && f.size
    )) {
      const key = kind === 'map' ? 'zzz' : undefined
      const more = withAdded(pod, document.index, path, key, { a: [1, { b: 'c' }] })
      expect(more, path.join('.')).not.toBe(pod)
      expect(withoutField(more, document.index, [...path, key ?? size]), path.join('.')).toBe(pod)
    }
  }
})
