import { describe, expect, it } from 'vitest'
import { arrangeNodes } from './arrange'
import { zoneLabel } from '@/kubernetes/cluster'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import { histogram, matchesVerdict, parseVerdictFilter, tally, verdictFaces } from './tileFaces'
import { buildCluster, node } from '@/kubernetes/testing'
import { layoutTiles, nextTile, shapeOf, tileAt } from './tiles'

function nodesOf(count: number) {
  const all = Array.from({ length: count }, (_, i) =>
    node(`n${i}`, { [zoneLabel]: `zone-${'abc'[i % 3]}`, pool: i % 2 ? 'ssd' : 'general' })
  )
  return buildCluster(new Map(all.map((n) => [n.metadata.name, n])), new Map()).nodes
}
const layoutOf = (count: number, width = 1000, height = 700) =>
  layoutTiles(shapeOf(arrangeNodes(nodesOf(count), { text: '', sort: 'name', grouping: [zoneLabel, 'pool'] })), {
    width,
    height,
  })

describe('layoutTiles', () => {
  it('shows 5,000 nodes in one window, each at its own place', () => {
    const layout = layoutOf(5000)
    expect(layout.height).toBeLessThanOrEqual(700)
    expect(layout.x).toHaveLength(5000)
    const places = new Set(Array.from(layout.x, (x, i) => `${x},${layout.y[i]}`))
    expect(places.size).toBe(5000)
    expect(Math.max(...layout.x)).toBeLessThanOrEqual(1000 - layout.pitch)
  })
  it('makes tiles larger if there is room, and scrolls otherwise', () => {
    expect(layoutOf(60).pitch).toBeGreaterThan(layoutOf(5000).pitch)
    expect(layoutOf(5000, 300, 300).height).toBeGreaterThan(300)
  })
  it('has a row for each zone and a block for each pool', () => {
    const layout = layoutOf(60)
    expect(
      layout.rows.map((row) => `${row.name} ${row.count}: ${row.blocks.map((b) => `${b.name} ${b.count}`).join(', ')}`)
    ).toEqual(['zone-a 20: general 10, ssd 10', 'zone-b 20: general 10, ssd 10', 'zone-c 20: general 10, ssd 10'])
  })
})

describe('tiles', () => {
  const layout = layoutOf(500)
  it('are found at their positions', () => {
    for (const i of [0, 7, 123, 499]) expect(tileAt(layout, (layout.x[i] ?? 0) + 1, (layout.y[i] ?? 0) + 1)).toBe(i)
    expect(tileAt(layout, -5, -5)).toBe(-1)
  })
  it('can all be reached with arrow keys', () => {
    const seen = new Set([0])
    const queue = [0]
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      for (const direction of ['left', 'right', 'up', 'down'] as const) {
        const next = nextTile(layout, at, direction)
        if (!seen.has(next)) {
          seen.add(next)
          queue.push(next)
        }
      }
    }
    expect(seen.size).toBe(500)
  })
})

describe('faces', () => {
  const nodes = nodesOf(5)
  const said: Record<string, NodeVerdict> = {
    n0: { kind: 'scored', rank: 1, tied: false, total: 300, toBest: 0, share: 1, chosen: true },
    n1: { kind: 'scored', rank: 2, tied: false, total: 100, toBest: -200, share: 0.3, chosen: false },
    n2: { kind: 'rejected', plugin: 'TaintToleration', reason: 'taint' },
    n3: { kind: 'rejected', plugin: 'NodeResourcesFit', reason: 'cpu' },
  }
  const verdictOf = (name: string): NodeVerdict => said[name] ?? { kind: 'notEvaluated', why: 'enoughFeasibleNodes' }
  const counted = tally(nodes, verdictOf)
  it('are counted by verdict and plugin', () => {
    expect(counted).toEqual({
      feasible: 2,
      rejected: 2,
      notEvaluated: 1,
      absent: 0,
      chosen: 'n0',
      plugins: [
        { plugin: 'NodeResourcesFit', nodes: 1 },
        { plugin: 'TaintToleration', nodes: 1 },
      ],
      totals: [100, 300],
    })
  })
  it('shade totals by classes, and give each plugin a sign', () => {
    const face = verdictFaces(counted)
    expect(nodes.map((n) => face(verdictOf(n.name), n.name))).toEqual([
      { kind: 'total', chosen: true, level: 5 },
      { kind: 'total', chosen: false, level: 3 },
      { kind: 'rejected', sign: 1 },
      { kind: 'rejected', sign: 0 },
      { kind: 'notEvaluated' },
    ])
  })
  it('shade rejected nodes by how near they are to fitting, where that is known', () => {
    const nearness = {
      levelOf: (node: string) => (node === 'n3' ? 4 : undefined),
      classes: [],
      plugins: new Set<string>(),
      none: 0,
    }
    const face = verdictFaces(tally(nodes, verdictOf, nearness))
    expect(['n2', 'n3'].map((name) => face(verdictOf(name), name))).toEqual([
      { kind: 'rejected', sign: 1 },
      { kind: 'rejected', sign: 0, level: 4 },
    ])
  })
  it('are filtered according to the URL', () => {
    const shown = (text: string) =>
      nodes.filter((n) => matchesVerdict(parseVerdictFilter(text), verdictOf(n.name))).map((n) => n.name)
    expect([
      shown(''),
      shown('feasible'),
      shown('rejected'),
      shown('by:TaintToleration'),
      shown('notEvaluated'),
    ]).toEqual([['n0', 'n1', 'n2', 'n3', 'n4'], ['n0', 'n1'], ['n2', 'n3'], ['n2'], ['n4']])
  })
})

describe('histogram', () => {
  it('has bars of a round width that cover every value', () => {
    const values = Array.from({ length: 500 }, (_, i) => 360 + Math.floor((i * 655) / 500))
    const h = histogram(values)
    expect(h).toMatchObject({ from: 360, step: 40, median: 686 })
    expect(h?.counts.reduce((a, b) => a + b)).toBe(500)
  })
  it('has one bar if all values are equal, and none without values', () => {
    expect(histogram([7, 7, 7])).toEqual({ from: 7, step: 1, counts: [3], median: 7 })
    expect(histogram([])).toBeUndefined()
  })
})
