import { describe, expect, it } from 'vitest'
import type { KindInfo, KubeObject } from '@/api/types'
import { createAll, type Creator, type Refusal } from './batch'
import { parseText, toYaml } from './documents'
import { parsePath, pathsInMessage } from './paths'
import { freeNames, sampleCluster, templates } from './templates'

describe('parseText', () => {
  it('reads several documents and knows their lines', () => {
    const text = '# first\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: c\n    image: x\n---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {generateName: n-}\n'
    const { entries, problems } = parseText(text)
    expect(problems).toEqual([])
    expect(entries.map((e) => `${e.kind} ${e.name} line ${e.line}`)).toEqual(['Pod a line 2', 'Namespace n-* line 12'])
    expect(['spec.containers[0].image', 'spec.containers[0].nonsense', 'spec.nonsense', 'kind'].map((p) => entries[0]?.lineOf(p))).toEqual([9, 8, 6, 3])
  })
  it('finds keys that hold dots', () => {
    const { entries } = parseText('apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n  labels:\n    a: b\n    example.com/x: y\n')
    expect(entries[0]?.lineOf('metadata.labels[example.com/x]')).toBe(7)
    expect(entries[0]?.lineOf('metadata.labels.example.com/x')).toBe(7)
  })
  it('takes a List apart', () => {
    const { entries } = parseText('apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: b\n')
    expect(entries.map((e) => `${e.name} ${e.lineOf('metadata.name')}`)).toEqual(['a 7', 'b 11'])
  })
  it('says where YAML is wrong', () => {
    const { problems } = parseText('apiVersion: v1\nkind: Pod\nmetadata:\n\tname: x\n')
    expect(problems[0]?.line).toBe(4)
  })
  it('says what a document lacks', () => {
    expect(parseText('kind: Pod\n').problems[0]?.message).toContain('apiVersion')
    expect(parseText('apiVersion: v1\nkind: Pod\n').problems[0]?.message).toContain('metadata.name')
    expect(parseText('just words\n').problems).toHaveLength(1)
    expect(parseText('\n---\n# nothing\n').entries).toEqual([])
  })
  it('writes what it can read again, without managed fields', () => {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', managedFields: [{}] }, spec: { x: 'yes', n: '1' } } as unknown as KubeObject
    const text = toYaml(object)
    expect(text).toBe('apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  x: yes\n  n: "1"\n')
    expect(parseText(text).entries[0]?.object.spec).toEqual({ x: 'yes', n: '1' })
  })
})

describe('paths', () => {
  it('splits field paths', () => {
    expect(parsePath('spec.containers[0].ports[1].hostPort')).toEqual(['spec', 'containers', 0, 'ports', 1, 'hostPort'])
    expect(parsePath('metadata.labels[a.b/c]')).toEqual(['metadata', 'labels', 'a.b/c'])
  })
  it('finds them in messages', () => {
    expect(pathsInMessage('Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.foo", duplicate field "spec.bar"')).toEqual(['spec.foo', 'spec.bar'])
    expect(pathsInMessage('Pod "x" is invalid: spec.containers: Required value')).toEqual(['spec.containers'])
    expect(pathsInMessage('pods "x" already exists')).toEqual([])
  })
})

it('has templates that parse', () => {
  const free = freeNames({ nodes: new Set(['node-1']), pods: new Set() })
  for (const template of templates) {
    const { entries, problems } = parseText(template.text(free))
    expect(problems, template.id).toEqual([])
    expect(entries.length, template.id).toBeGreaterThan(0)
  }
  expect(parseText(sampleCluster(free)).entries.map((e) => `${e.kind} ${e.name}`)).toEqual(['Node node-2', 'Node node-3', 'Pod pod-1'])
})

// ── batch ───────────────────────────────────────────────────────────────
const kind = (k: string, resource: string, namespaced: boolean, group = ''): KindInfo => ({ group, version: 'v1', kind: k, resource, namespaced, verbs: [] })
const served = [kind('Pod', 'pods', true), kind('Namespace', 'namespaces', false), kind('Node', 'nodes', false), kind('CustomResourceDefinition', 'customresourcedefinitions', false, 'apiextensions.k8s.io')]

class FakeCluster implements Creator {
  log: string[] = []
  extra: KindInfo[] = []
  constructor(private refuse: (object: KubeObject, dryRun: boolean) => Refusal | undefined = () => undefined) {}
  async kinds() {
    return [...served, ...this.extra]
  }
  async create(info: KindInfo, namespace: string | undefined, object: KubeObject, dryRun: boolean) {
    const name = object.metadata.name ?? `${object.metadata.generateName}xyz`
    this.log.push(`${dryRun ? 'try' : 'create'} ${info.resource} ${namespace ? `${namespace}/` : ''}${name}`)
    const refusal = this.refuse(object, dryRun)
    if (refusal) throw refusal
    return { ...object, metadata: { ...object.metadata, name } }
  }
  async pause() {
    this.extra = [kind('Widget', 'widgets', true, 'example.com')]
  }
}
const podText = (name: string, namespace = '') => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n${namespace ? `  namespace: ${namespace}\n` : ''}spec: {}\n`
const states = (r: Awaited<ReturnType<typeof createAll>>) => r.items.map((i) => `${i.entry.name} ${i.state.kind}`)

describe('createAll', () => {
  it('tries all, then creates all', async () => {
    const cluster = new FakeCluster()
    const result = await createAll(parseText(`${podText('a')}---\n${podText('b', 'shop')}`).entries, cluster)
    expect(cluster.log).toEqual(['try pods default/a', 'try pods shop/b', 'create pods default/a', 'create pods shop/b'])
    expect(result).toMatchObject({ complete: true, created: 2 })
  })
  it('creates nothing when one is refused in the dry run, and points at the field', async () => {
    const refusal = { message: 'Pod "b" is invalid', code: 422, causes: [{ field: 'spec', message: 'no good' }] }
    const cluster = new FakeCluster((o) => (o.metadata.name === 'b' ? refusal : undefined))
    const result = await createAll(parseText(`${podText('a')}---\n${podText('b')}`).entries, cluster)
    expect(cluster.log.filter((l) => l.startsWith('create'))).toEqual([])
    expect(states(result)).toEqual(['a notAttempted', 'b failed'])
    expect(result.problems).toEqual([{ line: 11, message: 'spec: no good' }])
  })
  it('says which kind is unknown', async () => {
    const result = await createAll(parseText('apiVersion: v1\nkind: Pdo\nmetadata: {name: a}\n').entries, new FakeCluster())
    expect(result.problems).toEqual([{ line: 2, message: 'no matches for kind "Pdo" in version "v1"' }])
  })
  it('stops at the first that fails and says what was created', async () => {
    const cluster = new FakeCluster((o, dryRun) => (!dryRun && o.metadata.name === 'b' ? { message: 'quota', code: 403, causes: [] } : undefined))
    const result = await createAll(parseText(['a', 'b', 'c'].map((n) => podText(n)).join('---\n')).entries, cluster)
    expect(states(result)).toEqual(['a created', 'b failed', 'c notAttempted'])
    expect(result).toMatchObject({ complete: false, created: 1 })
  })
  it('creates a namespace first and does not try what lives in it', async () => {
    const cluster = new FakeCluster()
    await createAll(parseText(`${podText('a', 'new')}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: new}\n`).entries, cluster)
    expect(cluster.log).toEqual(['try namespaces new', 'create namespaces new', 'create pods new/a'])
  })
  it('waits for a kind that the batch defines', async () => {
    const cluster = new FakeCluster()
    const crd = 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec: {group: example.com, names: {kind: Widget}}\n'
    const result = await createAll(parseText(`${crd}---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n`).entries, cluster)
    expect(cluster.log.at(-1)).toBe('create widgets default/w')
    expect(result.complete).toBe(true)
  })
  it('reports the generated name', async () => {
    const result = await createAll(parseText('apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n').entries, new FakeCluster())
    expect(result.items[0]?.state).toMatchObject({ kind: 'created', name: 'p-xyz' })
  })
})
