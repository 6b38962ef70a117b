import { describe, expect, it } from 'vitest'
import { ClusterModel } from './cluster'
import { OwnerColours } from './ownerColours'
import { pod } from './testing'

const names = (n: number, prefix = 'owner') => Array.from({ length: n }, (_, i) => `${prefix}-${i}`)

describe('the colour of an owner', () => {
  it('differs between the first nine, and is one of theirs after that', () => {
    const colours = new OwnerColours()
    expect(new Set(names(9).map((name) => colours.of(name))).size).toBe(9)
    for (const name of names(40, 'more')) expect(colours.of(name)).toBeGreaterThanOrEqual(1)
  })
  it('is spread evenly when there are more owners than colours', () => {
    const colours = new OwnerColours()
    const uses = new Map<number, number>()
    for (const name of names(90)) uses.set(colours.of(name), (uses.get(colours.of(name)) ?? 0) + 1)
    expect([...uses.values()]).toEqual(new Array(9).fill(10))
  })
  it('stays when others come and go, also after a reload', () => {
    let kept: ReadonlyMap<string, number> = new Map()
    const colours = new OwnerColours([], (all) => (kept = all))
    const before = names(9).map((name) => colours.of(name))
    for (const name of names(50, 'more')) colours.of(name)
    expect(names(9).map((name) => colours.of(name))).toEqual(before)
    const reloaded = new OwnerColours([...kept])
    reloaded.of('newcomer')
    expect(names(9).map((name) => reloaded.of(name))).toEqual(before)
  })
  it('is not taken from a store that holds something else', () => {
    expect(
      new OwnerColours([
        ['a', 99],
        ['b', Number.NaN],
      ]).of('a')
    ).toBeLessThanOrEqual(9)
  })
})

it('is the same in the list of owners and on the map, whoever has most pods', () => {
  const model = new ClusterModel()
  const owned = (owner: string, i: number) =>
    pod(
      `${owner}-${i}`,
      { nodeName: 'n' },
      {},
      { ownerReferences: [{ kind: 'StatefulSet', name: owner, controller: true }] }
    )
  const owners = names(12, 'set')
  const seen = new Map<string, number>()
  for (let round = 1; round <= 4; round++) {
    // Each round another owner is the largest.
    owners.forEach((owner, o) => {
      for (let i = 0; i < ((o + round * 5) % 12) + 1; i++)
        model.setPod(`default/${owner}-${i}-${round}`, owned(owner, i))
    })
    const { owners: list, colourOf } = model.view()
    for (const owner of list) {
      expect(colourOf(owned(owner.name, 0))).toBe(owner.colour)
      expect(seen.get(owner.key) ?? owner.colour).toBe(owner.colour)
      seen.set(owner.key, owner.colour)
    }
  }
  expect(seen.size).toBe(12)
})
