import { expect, it } from 'vitest'
import { ShortcutReader } from './shortcuts'

const press = (key: string, chord = false) => ({ key, ctrlKey: chord, metaKey: false, altKey: false, shiftKey: false })

it('reads single keys, chords and g followed by a place', () => {
  const reader = new ShortcutReader()
  const read = (key: string, now: number, typing = false, chord = false) =>
    reader.read(press(key, chord), { typing, now })
  expect(read('c', 0)).toEqual({ kind: 'create' })
  expect(read('?', 0)).toEqual({ kind: 'help' })
  expect(read('k', 0, false, true)).toEqual({ kind: 'palette' })
  expect(read('g', 100)).toBeUndefined()
  expect(read('c', 300)).toEqual({ kind: 'go', view: 'cluster' })
})

it('ignores g if the next key is late or unknown', () => {
  const reader = new ShortcutReader()
  const read = (key: string, now: number) => reader.read(press(key), { typing: false, now })
  read('g', 0)
  expect(read('a', 5000)).toBeUndefined()
  read('g', 6000)
  read('x', 6100)
  expect(read('a', 6200)).toBeUndefined()
})

it('ignores keys while the user types text, except chords', () => {
  const reader = new ShortcutReader()
  expect(reader.read(press('c'), { typing: true, now: 0 })).toBeUndefined()
  expect(reader.read(press('K', true), { typing: true, now: 0 })).toEqual({ kind: 'palette' })
})

it('undoes the last step, but leaves typing to the browser, and redo alone', () => {
  const reader = new ShortcutReader()
  expect(reader.read(press('z', true), { typing: false, now: 0 })).toEqual({ kind: 'undo' })
  expect(reader.read(press('z', true), { typing: true, now: 0 })).toBeUndefined()
  expect(reader.read({ ...press('z', true), shiftKey: true }, { typing: false, now: 0 })).toBeUndefined()
  expect(reader.read(press('z'), { typing: false, now: 0 })).toBeUndefined()
})
