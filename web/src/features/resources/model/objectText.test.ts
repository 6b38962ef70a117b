import { expect, it } from 'vitest'
import type { KindInfo, KubeObject } from '@/api/types'
import { parseText, type Entry } from '@/features/yaml/model/documents'
import { bodyOf, isTextOf, keyOf, needsStatusWrite, unversionedYaml, withType } from './objectText'

const kind = (more: Partial<KindInfo> = {}): KindInfo => ({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  resource: 'jobs',
  namespaced: true,
  verbs: [],
  ...more,
})
const job = { kind: kind(), namespace: 'default', name: 'a' }
function entry(text: string): Entry {
  const [first] = parseText(text).entries
  if (!first) throw new Error('no entry')
  return first
}
const head = 'apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\n'

it('identifies an object by kind, namespace and name, not by its KindInfo value', () => {
  expect(keyOf(job)).toBe(keyOf({ ...job, kind: kind({ verbs: ['list'] }) }))
  expect(keyOf(job)).not.toBe(keyOf({ ...job, namespace: 'other' }))
  expect(keyOf(job)).not.toBe(keyOf({ ...job, kind: kind({ version: 'v2' }) }))
})

it('accepts a text without a namespace, but not one that describes another object', () => {
  expect(isTextOf(entry(head), job)).toBe(true)
  expect(isTextOf(entry(`${head}  namespace: default\n`), job)).toBe(true)
  expect(isTextOf(entry(`${head}  namespace: other\n`), job)).toBe(false)
  expect(isTextOf(entry(head.replace('name: a', 'name: b')), job)).toBe(false)
  expect(isTextOf(entry(head.replace('batch/v1', 'batch/v2')), job)).toBe(false)
  expect(isTextOf(entry(head.replace('Job', 'CronJob')), job)).toBe(false)
})

it('sends the namespace, and the version to overwrite', () => {
  const read = entry(`${head}  resourceVersion: "3"\n`)
  expect(bodyOf(read, 'default').metadata).toEqual({ name: 'a', namespace: 'default', resourceVersion: '3' })
  expect(bodyOf(read, 'default', '9').metadata.resourceVersion).toBe('9')
  expect(read.object.metadata.namespace).toBeUndefined()
})

it('adds a missing type to a response and keeps an existing one', () => {
  expect(withType(kind(), { metadata: { name: 'a' } })).toMatchObject({ apiVersion: 'batch/v1', kind: 'Job' })
  expect(withType(kind(), { apiVersion: 'batch/v2', metadata: { name: 'a' } }).apiVersion).toBe('batch/v2')
})

it('writes the status separately only if it changed and the kind has a status subresource', () => {
  const object = (status?: unknown): KubeObject => ({ metadata: { name: 'a' }, ...(status ? { status } : {}) })
  const apart = kind({ subresources: ['status'] })
  expect(needsStatusWrite(apart, object({ n: 2 }), object({ n: 1 }))).toBe(true)
  expect(needsStatusWrite(apart, object({ n: 1 }), object({ n: 1 }))).toBe(false)
  expect(needsStatusWrite(apart, object(), object({ n: 1 }))).toBe(false)
  expect(needsStatusWrite(kind(), object({ n: 2 }), object({ n: 1 }))).toBe(false)
})

it('compares objects without the counters of their versions', () => {
  const object: KubeObject = { metadata: { name: 'a', resourceVersion: '7', generation: 2 } as KubeObject['metadata'] }
  expect(unversionedYaml(object)).toBe('metadata:\n  name: a\n')
})
