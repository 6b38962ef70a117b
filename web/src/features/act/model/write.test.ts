import { describe, expect, it } from 'vitest'
import type { KubeObject } from '@/api/types'
import { node, pod } from '@/kubernetes/testing'
import { nodeRef, podRef } from './links'
import { changeable, hasValues, inverseOf, patchBetween, taintsAfter, valuesOf, type Write } from './write'

const of = nodeRef('n')
const tainted = (...taints: { key: string; value?: string; effect: string }[]): KubeObject => ({
  ...node('n'),
  spec: { taints },
})
const blue = { key: 'team', value: 'blue', effect: 'NoSchedule' }
const red = { key: 'team', value: 'red', effect: 'NoSchedule' }

describe('taints', () => {
  it('are identified by key and effect: a new value replaces the old one', () => {
    expect(taintsAfter([blue], { add: [red], remove: [] })).toEqual([red])
    expect(taintsAfter([blue], { add: [], remove: [{ key: 'team', effect: 'NoExecute' }] })).toEqual([blue])
    expect(taintsAfter([blue], { add: [], remove: [{ key: 'team', effect: 'NoSchedule' }] })).toEqual([])
  })
  it('are undone one by one, so that taints of others stay', () => {
    const add: Write = { op: 'taints', of, add: [red], remove: [] }
    expect(inverseOf(add, tainted(), tainted(red))).toEqual({ op: 'taints', of, add: [], remove: [red] })
    expect(inverseOf(add, tainted(blue), tainted(red))).toEqual({ op: 'taints', of, add: [blue], remove: [] })
    expect(inverseOf({ op: 'taints', of, add: [], remove: [blue] }, tainted(blue), tainted())).toEqual({
      op: 'taints',
      of,
      add: [blue],
      remove: [],
    })
  })
})

describe('a merge patch', () => {
  it('is undone by the values from before, if nothing has changed them since', () => {
    const before = { ...node('n', { a: '1', b: '2' }), spec: {} }
    const after = { ...node('n', { a: '9', b: '2', c: '3' }), spec: { unschedulable: true } }
    const patch = { metadata: { labels: { a: '9', c: '3' } }, spec: { unschedulable: true } }
    expect(inverseOf({ op: 'merge', of, patch }, before, after)).toEqual({
      op: 'merge',
      of,
      patch: { metadata: { labels: { a: '1', c: null } }, spec: { unschedulable: null } },
      expect: patch,
    })
  })
  it('compares only the fields that it names', () => {
    expect(valuesOf({ a: { b: 1, c: 2 }, d: 3 }, { a: { b: 9 }, e: 1 })).toEqual({ a: { b: 1 }, e: null })
    expect(hasValues({ a: { b: 1, c: 2 } }, { a: { b: 1 } })).toBe(true)
    expect(hasValues({}, { a: { b: 1 } })).toBe(false)
  })
  it('turns one object into another', () => {
    expect(patchBetween({ a: 1, b: { c: 2, d: 3 }, l: [1] }, { b: { c: 2, d: 4 }, l: [1, 2], n: 'new' })).toEqual({
      a: null,
      b: { d: 4 },
      l: [1, 2],
      n: 'new',
    })
  })
  it('of an edit leaves out what the server sets', () => {
    const object = {
      ...pod('p'),
      metadata: { ...pod('p').metadata, uid: 'u', resourceVersion: '7', labels: { a: '1' } },
    }
    expect(changeable(object)).toEqual({
      spec: {},
      metadata: { labels: { a: '1' }, annotations: undefined, finalizers: undefined },
    })
  })
})

describe('a deletion', () => {
  const ref = podRef({ namespace: 'default', name: 'p' })
  it('is undone by creating the object again', () => {
    expect(inverseOf({ op: 'delete', of: ref }, pod('p'), undefined)).toEqual({
      op: 'create',
      of: ref,
      object: pod('p'),
    })
  })
  it('of a pod with a controller is not undone, because the controller replaces it', () => {
    const owned = pod('p', {}, {}, { ownerReferences: [{ kind: 'ReplicaSet', name: 'web-1', controller: true }] })
    expect(inverseOf({ op: 'delete', of: ref }, owned, undefined)).toBeUndefined()
  })
  it('is what undoes a creation, of exactly that object', () => {
    const made = pod('p', {}, {}, { uid: 'u1' })
    expect(inverseOf({ op: 'create', of: ref, object: pod('p') }, undefined, made)).toEqual({
      op: 'delete',
      of: ref,
      uid: 'u1',
    })
  })
})
