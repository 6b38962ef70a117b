import { describe, expect, it } from 'vitest'
import { aboutOf, nameOfOwn, ownOrigin } from './ownPresets'

describe('the user’s presets', () => {
  it('have names that differ from the other origins of a draft', () => {
    expect(nameOfOwn(ownOrigin('7'))).toBe('7')
    expect(nameOfOwn('binPacking')).toBeUndefined()
  })
  it('are described by their first comment', () => {
    expect(aboutOf('\n# Fill nodes\n# before opening new ones.\nkind: X\n# more\n')).toBe(
      'Fill nodes before opening new ones.'
    )
    expect(aboutOf('kind: X # not this\n')).toBe('')
  })
})
