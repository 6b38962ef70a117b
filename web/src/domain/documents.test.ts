import { describe, expect, it } from 'vitest'
import type { KindInfo, KubeObject } from '@/api/types'
import { check, itemsOf, managedByOthers, perform, problemsOf, type Creator, type Item, type Refusal } from './batch'
import { DocumentReader, parseInSteps, parseText, toYaml, type Entry } from './documents'
import { parsePath, pathsInMessage } from './paths'
import { freeNames, templates } from './templates'

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
})

// ── batch ───────────────────────────────────────────────────────────────
const kind = (k: string, resource: string, namespaced: boolean, group = ''): KindInfo => ({ group, version: 'v1', kind: k, resource, namespaced, verbs: [] })
const served = [kind('Pod', 'pods', true), kind('Namespace', 'namespaces', false), kind('Node', 'nodes', false), kind('CustomResourceDefinition', 'customresourcedefinitions', false, 'apiextensions.k8s.io')]

class FakeCluster implements Creator {
  log: string[] = []
  extra: KindInfo[] = []
  /** What is there already. */
  there = new Map<string, KubeObject>()
  constructor(private refuse: (object: KubeObject, dryRun: boolean) => Refusal | undefined = () => undefined) {}
  async kinds() {
    return [...served, ...this.extra]
  }
  async create(info: KindInfo, namespace: string | undefined, object: KubeObject, dryRun: boolean) {
    const name = object.metadata.name ?? `${object.metadata.generateName}xyz`
    this.log.push(`${dryRun ? 'try' : 'create'} ${info.resource} ${namespace ? `${namespace}/` : ''}${name}`)
    const refusal = this.there.has(name) ? { message: 'already exists', code: 409, causes: [], reason: 'AlreadyExists' } : this.refuse(object, dryRun)
    if (refusal) throw refusal
    return { ...object, metadata: { ...object.metadata, name } }
  }
  async get(info: KindInfo, namespace: string | undefined, name: string): Promise<KubeObject> {
    this.log.push(`get ${info.resource} ${namespace ? `${namespace}/` : ''}${name}`)
    const found = this.there.get(name)
    if (!found) throw { message: 'not found', code: 404, causes: [] } satisfies Refusal
    return found
  }
  async apply(info: KindInfo, namespace: string | undefined, object: KubeObject, { dryRun, force }: { dryRun: boolean; force: boolean }) {
    const name = object.metadata.name
    this.log.push(`${dryRun ? 'try apply' : 'apply'}${force ? ' by force' : ''} ${info.resource} ${namespace ? `${namespace}/` : ''}${name}`)
    const before = this.there.get(name)
    if (before?.taken && !force) throw { message: 'conflict', code: 409, reason: 'Conflict', causes: [{ reason: 'FieldManagerConflict', field: '.spec.x', message: 'conflict with "kubectl"' }] } satisfies Refusal
    return { ...before, ...object }
  }
  async pause() {
    this.extra = [kind('Widget', 'widgets', true, 'example.com')]
  }
}
const podText = (name: string, namespace = '') => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n${namespace ? `  namespace: ${namespace}\n` : ''}spec: {}\n`
const states = (items: Item[]) => items.map((i) => `${i.entry.name} ${i.state.kind}`)
/** Tries all, then creates all unless one was refused. */
async function create(entries: readonly Entry[], cluster: Creator): Promise<Item[]> {
  const items = itemsOf(entries)
  await check(items, cluster)
  if (!items.some((i) => i.state.kind === 'failed')) await perform(items, cluster)
  return items
}

describe('creating', () => {
  it('tries all, then creates all', async () => {
    const cluster = new FakeCluster()
    const result = await create(parseText(`${podText('a')}---\n${podText('b', 'shop')}`).entries, cluster)
    expect(cluster.log).toEqual(['try pods default/a', 'try pods shop/b', 'create pods default/a', 'create pods shop/b'])
    expect(states(result)).toEqual(['a created', 'b created'])
  })
  it('creates nothing when one is refused in the dry run, and points at the field', async () => {
    const refusal = { message: 'Pod "b" is invalid', code: 422, causes: [{ field: 'spec', message: 'no good' }] }
    const cluster = new FakeCluster((o) => (o.metadata.name === 'b' ? refusal : undefined))
    const result = await create(parseText(`${podText('a')}---\n${podText('b')}`).entries, cluster)
    expect(cluster.log.filter((l) => l.startsWith('create'))).toEqual([])
    expect(states(result)).toEqual(['a checked', 'b failed'])
    expect(problemsOf(result)).toEqual([{ line: 11, message: 'spec: no good' }])
  })
  it('says which kind is unknown', async () => {
    const result = await create(parseText('apiVersion: v1\nkind: Pdo\nmetadata: {name: a}\n').entries, new FakeCluster())
    expect(problemsOf(result)).toEqual([{ line: 2, message: 'no matches for kind "Pdo" in version "v1"' }])
  })
  it('goes on after one that fails and says what was created', async () => {
    const cluster = new FakeCluster((o, dryRun) => (!dryRun && o.metadata.name === 'b' ? { message: 'quota', code: 403, causes: [] } : undefined))
    const result = await create(parseText(['a', 'b', 'c'].map((n) => podText(n)).join('---\n')).entries, cluster)
    expect(states(result)).toEqual(['a created', 'b failed', 'c created'])
  })
  it('creates a namespace first and does not try what lives in it', async () => {
    const cluster = new FakeCluster()
    await create(parseText(`${podText('a', 'new')}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: new}\n`).entries, cluster)
    expect(cluster.log).toEqual(['try namespaces new', 'create namespaces new', 'create pods new/a'])
  })
  it('waits for a kind that the batch defines', async () => {
    const cluster = new FakeCluster()
    const crd = 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec: {group: example.com, names: {kind: Widget}}\n'
    const result = await create(parseText(`${crd}---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n`).entries, cluster)
    expect(cluster.log.at(-1)).toBe('create widgets default/w')
    expect(states(result)).toEqual(['widgets.example.com created', 'w created'])
  })
  it('reports the generated name', async () => {
    const result = await create(parseText('apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n').entries, new FakeCluster())
    expect(result[0]?.state).toMatchObject({ kind: 'created', name: 'p-xyz' })
  })
})

describe('itemsOf', () => {
  it('puts what others need first, and pods last', () => {
    const one = (k: string) => `apiVersion: v1\nkind: ${k}\nmetadata: {name: x}\n`
    const kinds = ['Pod', 'Deployment', 'PersistentVolumeClaim', 'Node', 'StorageClass', 'Namespace']
    expect(itemsOf(parseText(kinds.map(one).join('---\n')).entries).map((i) => i.entry.kind)).toEqual([...kinds].reverse())
  })
})

describe('what is there already', () => {
  const object = (more: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, ...more }) as unknown as KubeObject
  const items = (text: string) => itemsOf(parseText(text).entries)

  it('is compared, and changed only when performed', async () => {
    const cluster = new FakeCluster()
    cluster.there.set('a', object({ spec: { x: 1 } }))
    cluster.there.set('b', { ...object({ spec: {} }), metadata: { name: 'b' } })
    const all = items(`${podText('a').replace('{}', '{x: 2}')}---\n${podText('b')}---\n${podText('c')}`)
    await check(all, cluster)
    expect(all.map((i) => i.state.kind)).toEqual(['differs', 'same', 'checked'])
    await perform(all, cluster)
    expect(all.map((i) => i.state.kind)).toEqual(['changed', 'same', 'created'])
    expect(cluster.log.filter((l) => /^(apply|create)/.test(l))).toEqual(['apply pods default/a', 'create pods default/c'])
  })
  it('is not taken from other managers without force', async () => {
    const cluster = new FakeCluster()
    cluster.there.set('a', object({ taken: true }))
    const all = items(podText('a').replace('{}', '{x: 1}'))
    await check(all, cluster)
    const { state } = all[0] ?? {}
    expect(state?.kind === 'failed' && managedByOthers(state.refusal)).toEqual([{ field: 'spec.x', message: 'conflict with "kubectl"', path: ['spec', 'x'] }])
    const forced = items(podText('a').replace('{}', '{x: 1}'))
    await check(forced, cluster, { force: true })
    await perform(forced, cluster, { force: true })
    expect(cluster.log.at(-1)).toBe('apply by force pods default/a')
  })
})

describe('perform', () => {
  it('has few requests open at a time and attempts nothing once it is stopped', async () => {
    const cluster = new FakeCluster()
    const stop = new AbortController()
    let open = 0
    let most = 0
    const create = cluster.create.bind(cluster)
    cluster.create = async (...all) => {
      most = Math.max(most, ++open)
      await Promise.resolve()
      open--
      return create(...all)
    }
    const all = itemsOf(parseText(Array.from({ length: 20 }, (_, i) => podText(`p${i}`)).join('---\n')).entries)
    await perform(all, cluster, { width: 3, signal: stop.signal, progress: (items) => items.filter((i) => i.state.kind === 'created').length === 9 && stop.abort() })
    expect(most).toBe(3)
    const count = (k: string) => all.filter((i) => i.state.kind === k).length
    expect(count('created') + count('notAttempted')).toBe(20)
    expect(count('created')).toBeLessThan(13)
  })
  it('creates what was exported, without what only servers set', async () => {
    const cluster = new FakeCluster()
    const sent: unknown[] = []
    cluster.create = async (_, __, object) => {
      sent.push(object.metadata)
      return object
    }
    await perform(itemsOf(parseText('apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: u, resourceVersion: "3", creationTimestamp: t}\n').entries), cluster)
    expect(sent).toEqual([{ name: 'a' }])
  })
})

describe('large texts', () => {
  const many = Array.from({ length: 50 }, (_, i) => podText(`p${i}`)).join('---\n')
  it('are read in steps, to the same result', () => {
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
  it('are read as JSON when they are that', () => {
    const list = { apiVersion: 'v1', kind: 'List', items: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }] }
    const { value } = parseInSteps(JSON.stringify(list)).next()
    expect(value).toMatchObject({ entries: [{ name: 'a', line: 1 }], problems: [] })
  })
  it('are not read anew where they stay the same', () => {
    const reader = new DocumentReader()
    const first = reader.parse(`${podText('a')}---\n${podText('b')}`)
    const second = reader.parse(`${podText('longer')}# more\n---\n${podText('b')}`)
    expect(second.entries[1]?.object).toBe(first.entries[1]?.object)
    expect(second.entries[1]?.lineOf('metadata.name')).toBe(11)
  })
  it('keep directives with their document, and dashes in texts apart', () => {
    expect(parseText(`%YAML 1.2\n---\n${podText('a')}`).entries.map((e) => e.line)).toEqual([3])
    expect(parseText(`${podText('a')}text: |\n  --- no\n---\n${podText('b')}`).entries.map((e) => e.name)).toEqual(['a', 'b'])
  })
})
