import { beforeEach, describe, expect, it } from 'vitest'
import { ownTexts, readTexts, tidyName, withText, withoutText } from './ownTexts'

describe('texts that the user saved', () => {
  const mine = [{ name: 'B', text: 'b' }]
  it('are stored by name, and replace one with the same name', () => {
    expect(withText(mine, { name: 'A', text: 'a' })).toEqual([
      { name: 'A', text: 'a' },
      { name: 'B', text: 'b' },
    ])
    expect(withText(mine, { name: 'B', text: 'new' })).toEqual([{ name: 'B', text: 'new' }])
    expect(withoutText(mine, 'B')).toEqual([])
  })
  it('are refused if they exceed the storage limit', () => {
    expect(withText(mine, { name: 'huge', text: 'x'.repeat(1_200_001) })).toBeUndefined()
  })
  it('have normalized names', () => {
    expect(tidyName('  my   text ')).toBe('my text')
  })
  it('are parsed from storage, whatever it contains', () => {
    expect(readTexts(JSON.stringify(mine))).toEqual(mine)
    expect(readTexts('[{"name":"", "text":"x"}, {"name":"a"}, 5, null]')).toEqual([])
    expect(readTexts('{"name":"a"}')).toEqual([])
    expect(readTexts('{')).toEqual([])
    expect(readTexts(null)).toEqual([])
  })

  describe('in this browser', () => {
    beforeEach(() => localStorage.clear())
    it('are found again, renamed and dropped', () => {
      const texts = ownTexts('some')
      expect(texts.keep({ name: 'a', text: '1' })).toBe(true)
      expect(ownTexts('some').all.value).toEqual([{ name: 'a', text: '1' }])
      expect(texts.rename('a', 'b')).toBe(true)
      expect(texts.rename('gone', 'c')).toBe(false)
      expect(texts.all.value).toEqual([{ name: 'b', text: '1' }])
      expect(texts.drop('b')).toBe(true)
      expect(texts.all.value).toEqual([])
    })
  })
})
