import { describe, expect, it } from 'vitest'
import type { KindInfo, KubeObject } from '@/api/types'
import { check, itemsOf, managedByOthers, perform, problemsOf, type Creator, type Item, type Refusal } from './batch'
import { parseText, type Entry } from '@/features/yaml/model/documents'

const kind = (k: string, resource: string, namespaced: boolean, group = ''): KindInfo => ({
  group,
  version: 'v1',
  kind: k,
  resource,
  namespaced,
  verbs: [],
})
const served = [
  kind('Pod', 'pods', true),
  kind('Namespace', 'namespaces', false),
  kind('Node', 'nodes', false),
  kind('CustomResourceDefinition', 'customresourcedefinitions', false, 'apiextensions.k8s.io'),
]

class FakeCluster implements Creator {
  log: string[] = []
  extra: KindInfo[] = []
  /** Existing objects. */
  there = new Map<string, KubeObject>()
  constructor(private refuse: (object: KubeObject, dryRun: boolean) => Refusal | undefined = () => undefined) {}
  async kinds() {
    return [...served, ...this.extra]
  }
  async create(info: KindInfo, namespace: string | undefined, object: KubeObject, dryRun: boolean) {
    const name = object.metadata.name ?? `${object.metadata.generateName}xyz`
    this.log.push(`${dryRun ? 'try' : 'create'} ${info.resource} ${namespace ? `${namespace}/` : ''}${name}`)
    const refusal = this.there.has(name)
      ? { message: 'already exists', code: 409, causes: [], reason: 'AlreadyExists' }
      : this.refuse(object, dryRun)
    if (refusal) throw refusal
    return { ...object, metadata: { ...object.metadata, name } }
  }
  async get(info: KindInfo, namespace: string | undefined, name: string): Promise<KubeObject> {
    this.log.push(`get ${info.resource} ${namespace ? `${namespace}/` : ''}${name}`)
    const found = this.there.get(name)
    if (!found) throw { message: 'not found', code: 404, causes: [] } satisfies Refusal
    return found
  }
  async apply(
    info: KindInfo,
    namespace: string | undefined,
    object: KubeObject,
    { dryRun, force }: { dryRun: boolean; force: boolean }
  ) {
    const name = object.metadata.name
    this.log.push(
      `${dryRun ? 'try apply' : 'apply'}${force ? ' by force' : ''} ${info.resource} ${namespace ? `${namespace}/` : ''}${name}`
    )
    const before = this.there.get(name)
    if (before?.taken && !force)
      throw {
        message: 'conflict',
        code: 409,
        reason: 'Conflict',
        causes: [{ reason: 'FieldManagerConflict', field: '.spec.x', message: 'conflict with "kubectl"' }],
      } satisfies Refusal
    return { ...before, ...object }
  }
  async pause() {
    this.extra = [kind('Widget', 'widgets', true, 'example.com')]
  }
}
const podText = (name: string, namespace = '') =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n${namespace ? `  namespace: ${namespace}\n` : ''}spec: {}\n`
const states = (items: Item[]) => items.map((i) => `${i.entry.name} ${i.state.kind}`)
/** Dry-runs all items, then creates them unless one was rejected. */
async function create(entries: readonly Entry[], cluster: Creator): Promise<Item[]> {
  const items = itemsOf(entries)
  await check(items, cluster)
  if (!items.some((i) => i.state.kind === 'failed')) await perform(items, cluster)
  return items
}

describe('creating', () => {
  it('dry-runs all, then creates all', async () => {
    const cluster = new FakeCluster()
    const result = await create(parseText(`${podText('a')}---\n${podText('b', 'shop')}`).entries, cluster)
    expect(cluster.log).toEqual([
      'try pods default/a',
      'try pods shop/b',
      'create pods default/a',
      'create pods shop/b',
    ])
    expect(states(result)).toEqual(['a created', 'b created'])
  })
  it('asks again which kinds the server has if one is unknown: a configuration or kubectl may have installed its definition', async () => {
    class Later extends FakeCluster {
      override async kinds(fresh = false) {
        return [...served, ...(fresh ? [kind('Widget', 'widgets', true, 'example.com')] : [])]
      }
    }
    const cluster = new Later()
    const entries = parseText('apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n').entries
    expect(states(await create(entries, cluster))).toEqual(['w created'])
    const unchecked = itemsOf(entries)
    await perform(unchecked, cluster)
    expect(states(unchecked)).toEqual(['w created'])
  })
  it('creates nothing if the dry run refuses one, and points at the field', async () => {
    const refusal = { message: 'Pod "b" is invalid', code: 422, causes: [{ field: 'spec', message: 'no good' }] }
    const cluster = new FakeCluster((o) => (o.metadata.name === 'b' ? refusal : undefined))
    const result = await create(parseText(`${podText('a')}---\n${podText('b')}`).entries, cluster)
    expect(cluster.log.filter((l) => l.startsWith('create'))).toEqual([])
    expect(states(result)).toEqual(['a checked', 'b failed'])
    expect(problemsOf(result)).toEqual([{ line: 11, message: 'spec: no good' }])
  })
  it('reports each unknown field once, at its own line', async () => {
    const message =
      'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.foo", unknown field "metadata.bar"'
    const text = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  bar: 1\nspec:\n  foo: 1\n'
    const result = await create(parseText(text).entries, new FakeCluster(() => ({ message, code: 400, causes: [] })))
    expect(problemsOf(result)).toEqual([
      { line: 5, message: 'unknown field "metadata.bar"' },
      { line: 7, message: 'unknown field "spec.foo"' },
    ])
  })
  it('marks a refusal that names no field as one of its whole document', async () => {
    const message =
      'Pod in version "v1" cannot be handled as a Pod: ' +
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    const result = await create(
      parseText(`${podText('a')}---\n${podText('b')}`).entries,
      new FakeCluster((o) => (o.metadata.name === 'b' ? { message, code: 400, causes: [] } : undefined))
    )
    expect(problemsOf(result)).toEqual([{ line: 7, document: 7, message }])
  })
  it('reports an unknown kind', async () => {
    const result = await create(
      parseText('apiVersion: v1\nkind: Pdo\nmetadata: {name: a}\n').entries,
      new FakeCluster()
    )
    expect(problemsOf(result)).toEqual([{ line: 2, message: 'no matches for kind "Pdo" in version "v1"' }])
  })
  it('continues after a failure and reports what was created', async () => {
    const cluster = new FakeCluster((o, dryRun) =>
      !dryRun && o.metadata.name === 'b' ? { message: 'quota', code: 403, causes: [] } : undefined
    )
    const result = await create(parseText(['a', 'b', 'c'].map((n) => podText(n)).join('---\n')).entries, cluster)
    expect(states(result)).toEqual(['a created', 'b failed', 'c created'])
  })
  it('creates pods only when the nodes before them are ready', async () => {
    const cluster = new FakeCluster()
    const fresh = {
      metadata: { name: 'n' },
      spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
    } as KubeObject
    let answers = 0
    cluster.get = (info, _, name) => {
      cluster.log.push(`get ${info.resource} ${name}`)
      return Promise.resolve(answers++ ? { ...fresh, spec: {} } : fresh)
    }
    await create(parseText(`${podText('a')}---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\n`).entries, cluster)
    expect(cluster.log.slice(2)).toEqual(['create nodes n', 'get nodes n', 'get nodes n', 'create pods default/a'])
  })
  it('does not wait forever for a node that never gets ready', async () => {
    const cluster = new FakeCluster()
    cluster.get = () =>
      Promise.resolve({
        metadata: { name: 'n' },
        spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
      } as KubeObject)
    const items = await create(
      parseText(`${podText('a')}---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\n`).entries,
      cluster
    )
    expect(states(items)).toEqual(['n created', 'a created'])
  })
  it('creates a namespace first and does not dry-run objects in it', async () => {
    const cluster = new FakeCluster()
    await create(
      parseText(`${podText('a', 'new')}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: new}\n`).entries,
      cluster
    )
    expect(cluster.log).toEqual(['try namespaces new', 'create namespaces new', 'create pods new/a'])
  })
  it('waits for a kind that the batch defines', async () => {
    const cluster = new FakeCluster()
    const crd =
      'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ' +
      'widgets.example.com}\nspec: {group: example.com, names: {kind: Widget}}\n'
    const result = await create(
      parseText(`${crd}---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n`).entries,
      cluster
    )
    expect(cluster.log.at(-1)).toBe('create widgets default/w')
    expect(states(result)).toEqual(['widgets.example.com created', 'w created'])
  })
  it('reports the generated name', async () => {
    const result = await create(
      parseText('apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n').entries,
      new FakeCluster()
    )
    expect(result[0]?.state).toMatchObject({ kind: 'created', name: 'p-xyz' })
  })
})

describe('itemsOf', () => {
  it('puts dependencies first, and pods last', () => {
    const one = (k: string) => `apiVersion: v1\nkind: ${k}\nmetadata: {name: x}\n`
    const kinds = ['Pod', 'Deployment', 'PersistentVolumeClaim', 'Node', 'StorageClass', 'Namespace']
    expect(itemsOf(parseText(kinds.map(one).join('---\n')).entries).map((i) => i.entry.kind)).toEqual(
      [...kinds].reverse()
    )
  })

  it('puts pods that have a node before the others, for which the scheduler counts them', () => {
    const text =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: urgent}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: placed}\nspec: {nodeName: a}\n'
    expect(itemsOf(parseText(text).entries).map((i) => i.entry.name)).toEqual(['placed', 'urgent'])
  })
})

describe('an existing object', () => {
  const object = (more: object) =>
    ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, ...more }) as unknown as KubeObject
  const items = (text: string) => itemsOf(parseText(text).entries)

  it('is compared, and changed only by perform', async () => {
    const cluster = new FakeCluster()
    cluster.there.set('a', object({ spec: { x: 1 } }))
    cluster.there.set('b', { ...object({ spec: {} }), metadata: { name: 'b' } })
    const all = items(`${podText('a').replace('{}', '{x: 2}')}---\n${podText('b')}---\n${podText('c')}`)
    await check(all, cluster)
    expect(all.map((i) => i.state.kind)).toEqual(['differs', 'same', 'checked'])
    await perform(all, cluster)
    expect(all.map((i) => i.state.kind)).toEqual(['changed', 'same', 'created'])
    expect(cluster.log.filter((l) => /^(apply|create)/.test(l))).toEqual([
      'apply pods default/a',
      'create pods default/c',
    ])
  })
  it('is not taken from other managers without force', async () => {
    const cluster = new FakeCluster()
    cluster.there.set('a', object({ taken: true }))
    const all = items(podText('a').replace('{}', '{x: 1}'))
    await check(all, cluster)
    const { state } = all[0] ?? {}
    expect(state?.kind === 'failed' && managedByOthers(state.refusal)).toEqual([
      { field: 'spec.x', message: 'conflict with "kubectl"', path: ['spec', 'x'] },
    ])
    const forced = items(podText('a').replace('{}', '{x: 1}'))
    await check(forced, cluster, { force: true })
    await perform(forced, cluster, { force: true })
    expect(cluster.log.at(-1)).toBe('apply by force pods default/a')
  })
})

describe('perform', () => {
  it('limits concurrent requests and attempts nothing once it is stopped', async () => {
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
    await perform(all, cluster, {
      width: 3,
      signal: stop.signal,
      progress: (items) => items.filter((i) => i.state.kind === 'created').length === 9 && stop.abort(),
    })
    expect(most).toBe(3)
    const count = (k: string) => all.filter((i) => i.state.kind === k).length
    expect(count('created') + count('notAttempted')).toBe(20)
    expect(count('created')).toBeLessThan(13)
  })
  it('creates exported objects, without server-set fields', async () => {
    const cluster = new FakeCluster()
    const sent: unknown[] = []
    cluster.create = async (_, __, object) => {
      sent.push(object.metadata)
      return object
    }
    await perform(
      itemsOf(
        parseText(
          'apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: u, resourceVersion: "3", creationTimestamp: t}\n'
        ).entries
      ),
      cluster
    )
    expect(sent).toEqual([{ name: 'a' }])
  })
})
