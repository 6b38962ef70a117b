import { describe, expect, it } from 'vitest'
import { aboutOf, nameOfOwn, ownOrigin, readPresets, tidyName, withoutPreset, withPreset } from './ownPresets'

describe('the user’s presets', () => {
  const mine = [{ name: 'B', text: 'b' }]
  it('are stored by name, and replace one with the same name', () => {
    expect(withPreset(mine, { name: 'A', text: 'a' })).toEqual([
      { name: 'A', text: 'a' },
      { name: 'B', text: 'b' },
    ])
    expect(withPreset(mine, { name: 'B', text: 'new' })).toEqual([{ name: 'B', text: 'new' }])
    expect(withoutPreset(mine, 'B')).toEqual([])
  })
  it('are refused if they exceed the storage limit', () => {
    expect(withPreset(mine, { name: 'huge', text: 'x'.repeat(1_000_001) })).toBeUndefined()
  })
  it('have normalized names, which differ from the other origins of a draft', () => {
    expect(tidyName('  my   preset ')).toBe('my preset')
    expect(nameOfOwn(ownOrigin('7'))).toBe('7')
    expect(nameOfOwn('binPacking')).toBeUndefined()
  })
  it('are described by their first comment', () => {
    expect(aboutOf('\n# Fill nodes\n# before opening new ones.\nkind: X\n# more\n')).toBe(
      'Fill nodes before opening new ones.'
    )
    expect(aboutOf('kind: X # not this\n')).toBe('')
  })
  it('are parsed from storage, whatever it contains', () => {
    expect(readPresets(JSON.stringify(mine))).toEqual(mine)
    expect(readPresets('[{"name":"", "text":"x"}, {"name":"a"}, 5, null]')).toEqual([])
    expect(readPresets('{"name":"a"}')).toEqual([])
    expect(readPresets('{')).toEqual([])
    expect(readPresets(null)).toEqual([])
  })
})
