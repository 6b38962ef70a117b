import { describe, expect, it } from 'vitest'
import { LineReader } from './ndjson'

describe('lines of JSON', () => {
  it('are parsed as a whole, wherever the text was split', () => {
    const text = '{"a":1}\n{"b":"x\\ny"}\n\n{"c":3}\n'
    for (let size = 1; size <= text.length; size++) {
      const reader = new LineReader()
      const found: unknown[] = []
      for (let at = 0; at < text.length; at += size) found.push(...reader.read(text.slice(at, at + size)))
      expect([...found, ...reader.end()]).toEqual([{ a: 1 }, { b: 'x\ny' }, { c: 3 }])
    }
  })

  it('return a last line without a newline only at the end', () => {
    const reader = new LineReader()
    expect(reader.read('{"a":1}\n{"b"')).toEqual([{ a: 1 }])
    expect(reader.read(':2}')).toEqual([])
    expect(reader.end()).toEqual([{ b: 2 }])
    expect(reader.end()).toEqual([])
  })
})
