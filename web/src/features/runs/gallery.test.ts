import { describe, expect, it } from 'vitest'
import { runs as english } from './words/en.deferred'
import shipped from './model/gallery/gallery.json'
import { cardNames, cards, nameIn } from './model/gallery'

describe('the gallery', () => {
  it('has each shipped scenario as a card with its text', () => {
    expect([...cardNames].sort()).toEqual(shipped.map(({ name }) => name).sort())
    for (const { name, text, steps } of cards) expect([nameIn(text), steps > 0]).toEqual([name, true])
  })
  it('says of the one that fails that this is the point', () => {
    const failing = cards.filter(({ fails }) => fails)
    expect(failing.map(({ name }) => english.runs.card[name].title)).toEqual(['This one fails: find out why'])
  })
})

describe('the suggested name', () => {
  it.each([
    ['metadata: {name: a-b}\n', 'a-b'],
    ['kind: Scenario\nmetadata:\n  name: c.d\n', 'c.d'],
    ['steps: []\n', ''],
  ])('of %j is %j', (text, name) => {
    expect(nameIn(text)).toBe(name)
  })
})
