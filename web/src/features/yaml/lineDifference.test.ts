import { describe, expect, it } from 'vitest'
import { lineDifference } from './lineDifference'

const lines = (text: string) => text.split(' ').join('\n')

describe('lineDifference', () => {
  it('counts added and removed lines', () => {
    expect(lineDifference(lines('a b c'), lines('a b c'))).toEqual({ added: 0, removed: 0 })
    expect(lineDifference(lines('a b c d'), lines('a x c y d'))).toEqual({ added: 2, removed: 1 })
    expect(lineDifference(lines('a b'), lines('b a'))).toEqual({ added: 1, removed: 1 })
  })
  it('counts empty lines, but not the line break at the end', () => {
    expect(lineDifference('a\nb\n', 'a\nb')).toEqual({ added: 0, removed: 0 })
    expect(lineDifference('a\n', 'a\n\nb\n')).toEqual({ added: 2, removed: 0 })
  })
  it('handles texts that are too long for an exact comparison', () => {
    const long = (from: number) => Array.from({ length: 3000 }, (_, i) => `line ${i + from}`).join('\n')
    expect(lineDifference(`${long(0)}\nend a`, `start\n${long(10)}\nend b`)).toEqual({ added: 12, removed: 11 })
  })
})
