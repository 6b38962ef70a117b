import { describe, expect, it } from 'vitest'
import type { FlowComparedTask, FlowNetwork } from '@/api/types'
import { mostBoxes, pictureOf, waysOf } from './flow'

// Two alike tasks of the class "map", one of "index"; two machines, one with two slots.
const network: FlowNetwork = {
  cost: 2500,
  nodes: [
    { kind: 'sink', name: 'sink' },
    { kind: 'machine', name: 'm1' },
    { kind: 'machine', name: 'm2' },
    { kind: 'task', name: 'map', tasks: 2 },
    { kind: 'unscheduled', name: 'maps' },
    { kind: 'class', name: 'map' },
    { kind: 'slot', name: 'm1/0', index: 0 },
    { kind: 'slot', name: 'm1/1', index: 1 },
    { kind: 'slot', name: 'm2/0', index: 0 },
    { kind: 'task', name: 'default/index-0', tasks: 1 },
    { kind: 'unscheduled', name: 'indexes' },
    { kind: 'class', name: 'index' },
  ],
  arcs: [
    { from: 1, to: 0, capacity: 50, cost: 0, flow: 2 },
    { from: 2, to: 0, capacity: 50, cost: 0, flow: 1 },
    { from: 3, to: 4, capacity: 2, cost: 2560000, flow: 0 },
    { from: 4, to: 0, capacity: 3, cost: 0, flow: 0 },
    { from: 3, to: 5, capacity: 2, cost: 0, flow: 2 },
    { from: 5, to: 6, capacity: 1, cost: 1000, flow: 1 },
    { from: 5, to: 7, capacity: 1, cost: 1500, flow: 0 },
    { from: 5, to: 8, capacity: 1, cost: 750, flow: 1 },
    { from: 6, to: 1, capacity: 1, cost: 0, flow: 1 },
    { from: 7, to: 1, capacity: 1, cost: 0, flow: 1 },
    { from: 8, to: 2, capacity: 1, cost: 0, flow: 1 },
    { from: 9, to: 10, capacity: 1, cost: 2560000, flow: 0 },
    { from: 10, to: 0, capacity: 3, cost: 0, flow: 0 },
    { from: 9, to: 11, capacity: 1, cost: 0, flow: 1 },
    { from: 11, to: 6, capacity: 1, cost: 1000, flow: 0 },
    { from: 11, to: 7, capacity: 1, cost: 1500, flow: 1 },
  ],
}

describe('the ways of a task', () => {
  it('are those of its class, the cheapest first, and the one past all machines', () => {
    expect(
      waysOf(network, { task: 'default/map-1', class: 'map', job: 'maps' }).map(
        ({ kind, machine, slot, cost, flow }) => [kind, machine, slot, cost, flow]
      )
    ).toEqual([
      ['slot', 'm2', 0, 750, 1],
      ['slot', 'm1', 0, 1000, 1],
      ['slot', 'm1', 1, 1500, 0],
      ['unscheduled', '', undefined, 2560000, 0],
    ])
  })
  it('include no machine that the hard constraints exclude', () => {
    expect(
      waysOf(network, { task: 'default/index-0', class: 'index', job: 'indexes' }).map(({ machine }) => machine)
    ).toEqual(['m1', 'm1', ''])
  })
})

describe('the picture', () => {
  it('has a box for each node and its column, and the flow through it', () => {
    const picture = pictureOf(network)
    expect(picture?.boxes.map(({ kind, column, flow }) => [kind, column, flow]).slice(0, 6)).toEqual([
      ['sink', 4, 3],
      ['machine', 3, 2],
      ['machine', 3, 1],
      ['task', 0, 2],
      ['unscheduled', 1, 0],
      ['class', 1, 2],
    ])
    expect(picture?.boxes[6]?.costs).toEqual([1000])
    expect(picture?.boxes.every(({ y }) => y > 0 && y < (picture?.height ?? 0))).toBe(true)
  })
  it('keeps the boxes of a column apart', () => {
    const picture = pictureOf(network)
    for (const column of [0, 1, 2, 3]) {
      const ys = (picture?.boxes ?? [])
        .filter((box) => box.column === column)
        .map(({ y }) => y)
        .sort((a, b) => a - b)
      expect(ys.slice(1).every((y, i) => y - (ys[i] ?? 0) >= 30)).toBe(true)
    }
  })
  it('marks where another scheduler placed the tasks', () => {
    const others: FlowComparedTask[] = [
      { task: 'default/map-0', class: 'map', job: 'maps', machine: 'm1', cost: 1500, optimalCost: 0 },
      { task: 'default/index-0', class: 'index', job: 'indexes', cost: 2560000, optimalCost: 1500 },
    ]
    const marked = (pictureOf(network, others)?.curves ?? [])
      .filter(({ other }) => other)
      .map(({ from, to }) => `${network.nodes[from]?.name} ${network.nodes[to]?.name}`)
    expect(marked.sort()).toEqual([
      'default/index-0 indexes',
      'indexes sink',
      'm1 sink',
      'm1/1 m1',
      'map m1/1',
      'map map',
    ])
  })
  it('leaves out machines on which no task may run', () => {
    const wide = {
      ...network,
      nodes: [...network.nodes, { kind: 'machine' as const, name: 'm3' }],
      arcs: [...network.arcs, { from: 12, to: 0, capacity: 50, cost: 0, flow: 0 }],
    }
    expect(pictureOf(wide)?.boxes.map(({ name }) => name)).not.toContain('m3')
  })
  it('is not drawn beyond what can be read', () => {
    expect(
      pictureOf({
        ...network,
        nodes: Array.from({ length: mostBoxes + 1 }, () => ({ kind: 'machine' as const, name: 'm' })),
      })
    ).toBeUndefined()
  })
})
