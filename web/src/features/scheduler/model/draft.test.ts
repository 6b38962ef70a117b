import { describe, expect, it } from 'vitest'
import { begin, follow, isDirty, isOvertaken, rebase, restore, type Draft } from './draft'

const first = { revision: 1, text: 'a' }
const second = { revision: 2, text: 'b' }
const edited: Draft = { text: 'mine', base: first, origin: 'binPacking' }

describe('a draft', () => {
  it('follows the running configuration until it is edited', () => {
    expect(follow(undefined, first)).toEqual({ text: 'a', base: first, origin: '' })
    expect(follow(follow(undefined, first), second).text).toBe('b')
  })
  it('keeps its text when another configuration is applied, and is marked as overtaken', () => {
    const kept = follow(edited, second)
    expect([kept.text, isDirty(kept), isOvertaken(kept, second), isOvertaken(kept, first)]).toEqual([
      'mine',
      true,
      true,
      false,
    ])
    expect(isOvertaken(rebase(kept, second), second)).toBe(false)
  })
  it('is unchanged again once its text is applied', () => {
    expect(isDirty(follow(edited, { revision: 3, text: 'mine' }))).toBe(false)
  })
  it('notices a restarted server with the same revision number', () => {
    expect(isOvertaken(edited, { revision: 1, text: 'other' })).toBe(true)
  })
  it('survives storing and restoring', () => {
    expect(restore(JSON.stringify(edited))).toEqual(edited)
    expect([restore(null), restore('{'), restore('{"text":1}')]).toEqual([undefined, undefined, undefined])
  })
  it('that starts from the running configuration has no origin', () => {
    expect(begin('a', 'default', first).origin).toBe('')
    expect(begin('x', 'default', first).origin).toBe('default')
  })
})
