import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ComputedRef } from 'vue'
import { ApiError } from '@/api/http'
import type { KindInfo, KubeObject } from '@/api/types'
import type { SchemaSource } from '@/features/yaml/model/schema'
import { notices } from '@/ui/notices'
import { withSetup, type Running } from '@/ui/testing'
import type { Creator } from './model/batch'
import { copies, draft } from './store/create'
import { useCreateBatch, type CreateBatch } from './useCreateBatch'
import { useDraftEntries } from './useDraftEntries'
import { useItemDifference, type ItemDifference } from './useItemDifference'

const kind = (name: string, resource: string, namespaced: boolean): KindInfo => ({
  group: '',
  version: 'v1',
  kind: name,
  resource,
  namespaced,
  verbs: ['create'],
})
const configMap = (name: string, data = '1') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  a: "${data}"\n`
const twoMaps = `${configMap('a')}---\n${configMap('b')}`

const creator = {
  kinds: vi.fn<Creator['kinds']>(),
  create: vi.fn<Creator['create']>(),
  get: vi.fn<Creator['get']>(),
  apply: vi.fn<Creator['apply']>(),
  pause: vi.fn<Creator['pause']>(),
}
const goTo = vi.fn()
const finished = vi.fn()
/** A schema with one quantity. */
const schema: SchemaSource = {
  root: () =>
    Promise.resolve({
      schema: {
        properties: {
          apiVersion: {},
          kind: {},
          metadata: {},
          data: {},
          spec: { properties: { cpu: { $ref: '#/io.k8s.apimachinery.pkg.api.resource.Quantity' } } },
        },
      },
      resolve: () => ({ type: 'string' }),
    }),
  heads: () => Promise.resolve([]),
}
let page: Running<{ batch: CreateBatch; difference: ComputedRef<ItemDifference | undefined> }>
let batch: CreateBatch

const written = () =>
  creator.create.mock.calls.filter(([, , , dryRun]) => !dryRun).map(([, , object]) => object.metadata.name)
/** Changes the text, which drops the results for the earlier text. */
async function writes(text: string) {
  draft.value = text
  await flushPromises()
}
/** Refuses requests about one object; everything else is accepted. */
function refuse(name: string, error: Error, dry?: boolean) {
  creator.create.mockImplementation((_info, _namespace, object, dryRun) =>
    object.metadata.name === name && (dry === undefined || dry === dryRun)
      ? Promise.reject(error)
      : Promise.resolve(object)
  )
}
/** Makes the cluster contain an object. */
function exists(name: string, object: KubeObject, after: KubeObject) {
  refuse(name, new ApiError('already exists', 409, [], [], 'AlreadyExists'))
  creator.get.mockResolvedValue(object)
  creator.apply.mockResolvedValue(after)
}

beforeEach(async () => {
  copies.value = 1
  draft.value = configMap('a')
  notices.value = []
  creator.kinds.mockResolvedValue([kind('ConfigMap', 'configmaps', true)])
  creator.create.mockImplementation((_info, _namespace, object) => Promise.resolve(object))
  creator.pause.mockResolvedValue()
  page = await withSetup(() => {
    const made = useCreateBatch(useDraftEntries(), creator, { goTo, finished }, schema)
    return { batch: made, difference: useItemDifference(made.shownItem) }
  })
  batch = page.value.batch
})
afterEach(() => {
  page.unmount()
  vi.resetAllMocks()
})

it('marks a quantity that the server refuses without naming it at its line, once', async () => {
  vi.useFakeTimers()
  try {
    await writes('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\nspec:\n  cpu: six\n  memry: 1Gi\n')
    // Before any request: the schema knows.
    expect(batch.draftProblems.value).toEqual([])
    await vi.advanceTimersByTimeAsync(1000)
    const found = () => batch.draftProblems.value.map((p) => `${p.line} ${p.message}`)
    const lines = [
      '6 cpu: “six” is not a quantity. Write an amount such as 500m, 2 or 4Gi.',
      '7 memry is not a field of this object.',
    ]
    expect(found()).toEqual(lines)
    refuse(
      'a',
      new ApiError(
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: quantities must match the regular expression',
        400
      )
    )
    await batch.submit()
    expect(batch.phase.value).toBe('refused')
    expect(found()).toEqual(lines)
  } finally {
    vi.useRealTimers()
  }
})

it('dry-runs and writes everything, reports it and finishes', async () => {
  await writes(twoMaps)
  await batch.submit()
  expect(written()).toEqual(['a', 'b'])
  expect(finished).toHaveBeenCalledOnce()
  expect(notices.value.at(-1)).toMatchObject({ kind: 'done', text: expect.stringMatching(/a, b/) })
})

it('sends nothing while the text has a problem or is empty, and goes to the problem', async () => {
  await writes('apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: x\n')
  await batch.submit()
  expect(batch.draftProblems.value[0]?.line).toBe(4)
  expect(goTo).toHaveBeenLastCalledWith(batch.draftProblems.value[0])
  await writes('# nothing\n')
  expect(batch.problems.value).toEqual([])
  await batch.dryRun()
  expect(batch.problems.value).toHaveLength(1)
  expect(creator.create).not.toHaveBeenCalled()
})

it('stops before writing when the dry run refuses an object, and writes the others on request', async () => {
  await writes(twoMaps)
  refuse('b', new ApiError('invalid', 422, [], [{ field: 'data.a', message: 'too short' }], 'Invalid'))
  await batch.submit()
  expect([batch.phase.value, batch.rest.value, written()]).toEqual(['refused', 1, []])
  expect(batch.draftProblems.value).toEqual([{ line: 13, message: 'data.a: too short' }])
  expect(goTo).toHaveBeenCalledWith(batch.draftProblems.value[0])
  await batch.proceed()
  expect([batch.phase.value, written(), finished.mock.calls.length]).toEqual(['done', ['a'], 0])
})

it('retries only what failed', async () => {
  await writes(twoMaps)
  refuse('b', new ApiError('etcd is full', 500), false)
  await batch.submit()
  expect([batch.phase.value, batch.counts.value.created, batch.counts.value.failed]).toEqual(['done', 1, 1])
  creator.create.mockReset().mockImplementation((_info, _namespace, object) => Promise.resolve(object))
  await batch.submit()
  expect(written()).toEqual(['b'])
  expect(finished).toHaveBeenCalledOnce()
})

it('shows the difference of an object before it changes it', async () => {
  const there = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' }, data: { a: '0' } }
  exists('a', there, { ...there, data: { a: '1' } })
  await batch.submit()
  expect([batch.phase.value, batch.shownItem.value?.state.kind]).toEqual(['review', 'differs'])
  expect(page.value.difference.value).toMatchObject({
    before: expect.stringContaining('a: "0"'),
    after: expect.stringContaining('a: "1"'),
  })
  await batch.submit()
  expect(creator.apply.mock.calls.at(-1)?.[3]).toEqual({ dryRun: false, force: false })
  expect(finished).toHaveBeenCalledOnce()
})

it('shows the result of a dry run beside the user’s text', async () => {
  creator.create.mockImplementation((_info, _namespace, object) =>
    Promise.resolve({ ...object, metadata: { ...object.metadata, uid: 'u', labels: { added: 'by-admission' } } })
  )
  await batch.dryRun()
  expect([batch.phase.value, written()]).toEqual(['review', []])
  expect(page.value.difference.value?.after).toContain('by-admission')
  expect(page.value.difference.value?.after).not.toContain('uid')
})

it('reports that nothing changed', async () => {
  const there = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' }, data: { a: '1' } }
  exists('a', there, there)
  await batch.submit()
  expect(finished).toHaveBeenCalledOnce()
  expect(batch.counts.value.same).toBe(1)
})

it('takes over fields of other managers only on request', async () => {
  exists(
    'a',
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: '1' } }
  )
  const managed = new ApiError(
    'conflict',
    409,
    [],
    [{ reason: 'FieldManagerConflict', field: '.data.a', message: 'conflict with "kubectl"' }],
    'Conflict'
  )
  creator.apply.mockImplementation((_info, _namespace, object, { force }) =>
    force ? Promise.resolve(object) : Promise.reject(managed)
  )
  await batch.submit()
  expect([batch.phase.value, batch.conflicts.value]).toEqual(['refused', 1])
  await batch.force()
  expect(creator.apply.mock.calls.at(-1)?.[3].force).toBe(true)
  expect(batch.phase.value).not.toBe('refused')
})

it('counts finished objects, ignores a second submit, and stops on request', async () => {
  copies.value = 20
  await flushPromises()
  const answers: (() => void)[] = []
  creator.create.mockImplementation((_info, _namespace, object, dryRun) =>
    dryRun ? Promise.resolve(object) : new Promise((resolve) => answers.push(() => resolve(object)))
  )
  const run = batch.submit()
  await vi.waitUntil(() => answers.length > 0)
  expect([batch.phase.value, batch.busy.value]).toEqual(['writing', true])
  const before = creator.create.mock.calls.length
  await batch.submit()
  expect(creator.create.mock.calls.length).toBe(before)
  const begun = answers.length
  batch.stop()
  for (const answer of answers) answer()
  await run
  expect([batch.phase.value, batch.progress.value, batch.counts.value.notAttempted]).toEqual([
    'done',
    begun,
    20 - begun,
  ])
  expect(finished).not.toHaveBeenCalled()
})

it('reports an unreachable server until the text changes', async () => {
  creator.kinds.mockRejectedValue(new ApiError('fetch failed', 0))
  await batch.submit()
  expect([batch.phase.value, batch.reported.value]).toEqual(['idle', true])
  await writes(configMap('c'))
  expect([batch.failure.value, batch.reported.value]).toEqual([undefined, false])
})
