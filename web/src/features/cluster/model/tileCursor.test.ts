import { expect, it } from 'vitest'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import { buildCluster, node } from '@/kubernetes/testing'
import { bestFirst, placeCard, scrollTo, tileForKey, type TileStops } from './tileCursor'
import { layoutTiles } from './tiles'

/** Two columns, each filled from the top. */
const layout = layoutTiles([{ name: '', count: 9, parts: [{ name: '', count: 9 }] }], { width: 90, height: 4000 })
const stops = (more: Partial<TileStops> = {}): TileStops => ({
  layout,
  count: 9,
  active: 0,
  start: 4,
  best: [7, 2, 5],
  ...more,
})

it('starts at the chosen tile, and continues from the active one', () => {
  expect(tileForKey('ArrowDown', stops({ active: -1 }))).toBe(4)
  expect(tileForKey('ArrowDown', stops())).toBe(1)
  expect([tileForKey('Home', stops()), tileForKey('End', stops())]).toEqual([4, 8])
})

it('cycles through the scored nodes, best first', () => {
  expect([-1, 7, 2, 5].map((active) => tileForKey('n', stops({ active })))).toEqual([7, 2, 5, 7])
  expect(tileForKey('n', stops({ best: [] }))).toBeUndefined()
  expect(tileForKey('x', stops())).toBeUndefined()
})

it('puts the chosen node first among equal totals', () => {
  const { nodes } = buildCluster(new Map(['a', 'b', 'c', 'd'].map((name) => [name, node(name)])), new Map())
  const verdicts: Record<string, Partial<NodeVerdict>> = {
    a: { kind: 'scored', total: 5, chosen: false },
    b: { kind: 'rejected' },
    c: { kind: 'scored', total: 9, chosen: false },
    d: { kind: 'scored', total: 9, chosen: true },
  }
  const verdictOf = (name: string) => verdicts[name] as NodeVerdict
  expect(bestFirst(nodes, verdictOf).map((i) => nodes[i]?.name)).toEqual(['d', 'c', 'a'])
  expect(bestFirst(nodes, undefined)).toEqual([])
})

it('keeps the card inside the frame, to the right of the tile if there is room', () => {
  const [card, frame] = [
    { width: 100, height: 80 },
    { width: 300, height: 200 },
  ]
  expect(placeCard({ x: 50, y: 10, pitch: 20 }, card, frame)).toEqual({ left: 80, top: 36 })
  expect(placeCard({ x: 250, y: 190, pitch: 20 }, card, frame)).toEqual({ left: 140, top: 116 })
  expect(placeCard({ x: 60, y: -90, pitch: 20 }, { width: 290, height: 80 }, frame)).toEqual({ left: 4, top: 4 })
})

it('scrolls only to a tile that is not fully visible', () => {
  const box = { top: 100, height: 200 }
  expect(scrollTo({ y: 150, pitch: 20 }, box)).toBeUndefined()
  expect(scrollTo({ y: 110, pitch: 20 }, box)).toBe(70)
  expect(scrollTo({ y: 290, pitch: 20 }, box)).toBe(150)
})
