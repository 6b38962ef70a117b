import { describe, expect, it } from 'vitest'
import type { KubeObject } from '@/api/types'
import { DocumentReader, parseInSteps, parseText, toYaml } from './documents'

describe('parseText', () => {
  it('parses several documents with their lines', () => {
    const text =
      '# first\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: c\n    image: x\n' +
      '---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {generateName: n-}\n'
    const { entries, problems } = parseText(text)
    expect(problems).toEqual([])
    expect(entries.map((e) => `${e.kind} ${e.name} line ${e.line}`)).toEqual(['Pod a line 2', 'Namespace n-* line 12'])
    expect(
      ['spec.containers[0].image', 'spec.containers[0].nonsense', 'spec.nonsense', 'kind'].map((p) =>
        entries[0]?.lineOf(p)
      )
    ).toEqual([9, 8, 6, 3])
  })
  it('finds keys with dots', () => {
    const { entries } = parseText(
      'apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n  labels:\n    a: b\n    example.com/x: y\n'
    )
    expect(entries[0]?.lineOf('metadata.labels[example.com/x]')).toBe(7)
    expect(entries[0]?.lineOf('metadata.labels.example.com/x')).toBe(7)
  })
  it('splits a List into its items', () => {
    const { entries } = parseText(
      'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n- apiVersion: ' +
        'v1\n  kind: Pod\n  metadata:\n    name: b\n'
    )
    expect(entries.map((e) => `${e.name} ${e.lineOf('metadata.name')}`)).toEqual(['a 7', 'b 11'])
  })
  it('reports the position of YAML errors', () => {
    const { problems } = parseText('apiVersion: v1\nkind: Pod\nmetadata:\n\tname: x\n')
    expect(problems[0]?.line).toBe(4)
  })
  it('reports missing fields of a document', () => {
    expect(parseText('kind: Pod\n').problems[0]?.message).toContain('apiVersion')
    expect(parseText('apiVersion: v1\nkind: Pod\n').problems[0]?.message).toContain('metadata.name')
    expect(parseText('just words\n').problems).toHaveLength(1)
    expect(parseText('\n---\n# nothing\n').entries).toEqual([])
  })
  it('writes YAML that it can parse again, without managed fields', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', managedFields: [{}] },
      spec: { x: 'yes', n: '1' },
    } as unknown as KubeObject
    const text = toYaml(object)
    expect(text).toBe('apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  x: yes\n  n: "1"\n')
    expect(parseText(text).entries[0]?.object.spec).toEqual({ x: 'yes', n: '1' })
  })
})

const podText = (name: string, namespace = '') =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n${namespace ? `  namespace: ${namespace}\n` : ''}spec: {}\n`

describe('large texts', () => {
  const many = Array.from({ length: 50 }, (_, i) => podText(`p${i}`)).join('---\n')
  it('are parsed in parts, with the same result', () => {
    const steps = parseInSteps(many)
    let done = 0
    let next = steps.next()
    for (; !next.done; next = steps.next()) {
      expect(next.value).toBeGreaterThan(done)
      done = next.value
    }
    expect(done).toBe(many.length)
    const seen = (entries: { name: string; line: number }[]) => entries.map((e) => `${e.name} ${e.line}`)
    expect(seen(next.value.entries)).toEqual(seen(parseText(many).entries))
  })
  it('are parsed as JSON if they are JSON', () => {
    const list = { apiVersion: 'v1', kind: 'List', items: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }] }
    const { value } = parseInSteps(JSON.stringify(list)).next()
    expect(value).toMatchObject({ entries: [{ name: 'a', line: 1 }], problems: [] })
  })
  it('are not parsed again if they stay the same', () => {
    const reader = new DocumentReader()
    const first = reader.parse(`${podText('a')}---\n${podText('b')}`)
    const second = reader.parse(`${podText('longer')}# more\n---\n${podText('b')}`)
    expect(second.entries[1]?.object).toBe(first.entries[1]?.object)
    expect(second.entries[1]?.lineOf('metadata.name')).toBe(11)
  })
  it('keep directives with their document, and do not split at dashes inside scalars', () => {
    expect(parseText(`%YAML 1.2\n---\n${podText('a')}`).entries.map((e) => e.line)).toEqual([3])
    expect(parseText(`${podText('a')}text: |\n  --- no\n---\n${podText('b')}`).entries.map((e) => e.name)).toEqual([
      'a',
      'b',
    ])
  })
})
