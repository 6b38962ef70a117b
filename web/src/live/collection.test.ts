import { describe, expect, it } from 'vitest'
import type { Frame } from '@/api/watch'
import { Collection, Recent } from './collection'
import { objectKey, splitKey } from '@/kubernetes/object'

interface Thing {
  metadata: { namespace?: string; name: string }
  v?: number
}
const thing = (name: string, v = 0): Thing => ({ metadata: { namespace: 'default', name }, v })
const list = (items: Thing[], first: boolean, more: boolean): Frame<Thing> => ({
  type: 'list',
  id: 'x',
  items,
  first,
  more,
})
const events = (...e: ['ADDED' | 'MODIFIED' | 'DELETED', Thing][]): Frame<Thing> => ({
  type: 'events',
  id: 'x',
  events: e.map(([type, object]) => ({ type, object })),
})
const shown = (c: Collection<Thing>) => [...c.items.values()].map((t) => `${t.metadata.name}=${t.v}`).join(' ')

describe('Collection', () => {
  it('follows a stream: list in frames, events, list again after a reconnect', () => {
    const c = new Collection<Thing>(objectKey)
    const steps: [string, Frame<Thing>][] = [
      ['first frame shows at once', list([thing('a'), thing('b')], true, true)],
      ['second frame completes', list([thing('c')], false, false)],
      ['events', events(['MODIFIED', thing('b', 1)], ['DELETED', thing('a')], ['ADDED', thing('d')])],
      ['a new list is gathered aside', list([thing('d', 2)], true, true)],
      ['and swapped in whole', list([thing('e')], false, false)],
      ['an empty list empties', list([], true, false)],
    ]
    const transcript = steps.map(([what, frame]) => {
      c.apply(frame)
      return `${what}: ${shown(c)}${c.synced ? ' (synced)' : ''}`
    })
    expect(transcript).toEqual([
      'first frame shows at once: a=0 b=0',
      'second frame completes: a=0 b=0 c=0 (synced)',
      'events: b=1 c=0 d=0 (synced)',
      'a new list is gathered aside: b=1 c=0 d=0 (synced)',
      'and swapped in whole: d=2 e=0 (synced)',
      'an empty list empties:  (synced)',
    ])
  })

  it('keeps an object that was deleted and recreated under the same name', () => {
    const c = new Collection<Thing>(objectKey)
    c.apply(list([thing('a')], true, false))
    c.apply(events(['DELETED', thing('a')], ['ADDED', thing('a', 2)]))
    expect(shown(c)).toBe('a=2')
  })
})

describe('Recent', () => {
  const recent = () => new Recent<Thing>((t) => t.metadata.name, 4)
  const names = (r: Recent<Thing>) =>
    r
      .list()
      .map((t) => `${t.metadata.name}=${t.v}`)
      .join(' ')

  it('is sorted newest first, changes in place, and drops the oldest', () => {
    const r = recent()
    r.apply(list([thing('3'), thing('2')], true, true))
    r.apply(list([thing('1')], false, false))
    expect(names(r)).toBe('3=0 2=0 1=0')
    r.apply(events(['ADDED', thing('4')], ['MODIFIED', thing('2', 7)]))
    expect(names(r)).toBe('4=0 3=0 2=7 1=0')
    r.apply(events(['ADDED', thing('5')], ['ADDED', thing('6')], ['ADDED', thing('7')]))
    expect(names(r)).toBe('7=0 6=0 5=0 4=0')
  })

  it('is in the order in which cycles began, which is not the one in which they end', () => {
    const r = new Recent<Thing>(
      (t) => t.metadata.name,
      4,
      (t) => t.v ?? 0
    )
    r.apply(list([thing('c', 30), thing('a', 10), thing('b', 20)], true, false))
    r.apply(events(['ADDED', thing('e', 50)], ['ADDED', thing('d', 40)]))
    expect(names(r)).toBe('e=50 d=40 c=30 a=10')
    r.apply(events(['ADDED', thing('d2', 40)]))
    expect(names(r)).toBe('e=50 d2=40 d=40 c=30')
  })

  it('starts over with a new list', () => {
    const r = recent()
    r.apply(list([thing('9')], true, false))
    r.apply(list([thing('12'), thing('11')], true, false))
    expect(names(r)).toBe('12=0 11=0')
  })
})

it('splits the key of a namespaced object', () => {
  expect(splitKey(objectKey(thing('a')))).toEqual({ namespace: 'default', name: 'a' })
  expect(splitKey('node-1')).toBeUndefined()
})
