import { describe, expect, it } from 'vitest'
import { parseText } from '@/features/yaml/model/documents'
import { addPreviews, natureOf, previewOf, previewOfJson, previewOfText } from './preview'

const bytes = (...parts: (string | number)[]) =>
  new Uint8Array(parts.flatMap((p) => (typeof p === 'string' ? [...new TextEncoder().encode(p)] : [p])))

describe('the type of a file', () => {
  it.each([
    ['gzip', bytes(0x1f, 0x8b, 8), 'archive'],
    ['zip', bytes('PK', 3, 4), 'archive'],
    ['tar', bytes('a.yaml', ...Array<number>(251).fill(0), 'ustar'), 'archive'],
    ['a recording', bytes(0xb5, 'kr1H'), 'recording'],
    ['YAML', bytes('apiVersion: v1'), 'text'],
    ['nothing', bytes(), 'text'],
    ['something else', bytes('ab', 0, 1), 'other'],
  ])('%s shows in its content', (_, head, nature) => expect(natureOf(head)).toBe(nature))
})

it('recognises a configuration, the only document without a name', () => {
  const found = previewOfText(
    parseText(
      'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n---\napiVersion: v1\nkind: ' +
        'Pod\nmetadata: {}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n'
    )
  )
  expect(found).toEqual({ kinds: [{ kind: 'Node', count: 1 }], configuration: true, problems: 1, results: 0 })
})

describe('a JSON value', () => {
  it('can be a List, counted by kind, with the additions of an export', () => {
    const list = {
      kind: 'List',
      items: [{ kind: 'Node' }, { kind: 'Pod' }, { kind: 'Pod' }, 7],
      schedulerConfiguration: {},
      results: [1, 2],
    }
    expect(previewOfJson(list)).toEqual({
      kinds: [
        { kind: 'Pod', count: 2 },
        { kind: 'Node', count: 1 },
      ],
      configuration: true,
      problems: 1,
      results: 2,
    })
  })
  it('can be a typed list, whose items have no kind', () => {
    expect(previewOfJson({ kind: 'PodList', items: [{}, {}] })?.kinds).toEqual([{ kind: 'Pod', count: 2 }])
  })
  it('can be an export of the existing simulator', () => {
    expect(previewOfJson({ pods: [{}, {}], nodes: [{}], pvcs: [], schedulerConfig: {} })).toEqual({
      kinds: [
        { kind: 'Pod', count: 2 },
        { kind: 'Node', count: 1 },
      ],
      configuration: true,
      problems: 0,
      results: 0,
    })
  })
  it('is unknown otherwise', () => {
    expect([previewOfJson([]), previewOfJson({ a: 1 }), previewOfJson('x')]).toEqual([undefined, undefined, undefined])
  })
})

it('adds several files up', () => {
  const one = previewOf([{ kind: 'Pod' }, { kind: 'KubeSchedulerConfiguration' }], 1)
  expect(addPreviews([one, previewOf([{ kind: 'Pod' }, { kind: 'Node' }], 0)])).toEqual({
    kinds: [
      { kind: 'Pod', count: 2 },
      { kind: 'Node', count: 1 },
    ],
    configuration: true,
    problems: 1,
    results: 0,
  })
})
