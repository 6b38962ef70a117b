// The network of the flow scheduler as the page draws it: columns, arcs, and the arcs among which a
// task could choose.

import type { FlowComparedTask, FlowNetwork } from '@/api/types'

type Kind = FlowNetwork['nodes'][number]['kind']

export interface Box {
  index: number
  kind: Kind
  name: string
  /** The tasks that are alike and share the box; 1 or more for tasks, else 0. */
  tasks: number
  column: 0 | 1 | 2 | 3 | 4
  /** The middle of the box, from 0 at the top. */
  y: number
  flow: number
  /** The costs of the arcs that end here, without repetition. */
  costs: readonly number[]
}

export interface Curve {
  from: number
  to: number
  flow: number
  /** How much the other placement sends along it. */
  other: number
  cost: number
}

export interface Picture {
  boxes: readonly Box[]
  curves: readonly Curve[]
  columns: readonly (0 | 1 | 2 | 3 | 4)[]
  height: number
}

/** Boxes that a picture has at most; larger networks are not drawn. */
export const mostBoxes = 160

const columnOf: Record<Kind, Box['column']> = { task: 0, class: 1, unscheduled: 1, slot: 2, machine: 3, sink: 4 }
const rowHeight = 38

/**
 * Lays the network out in columns; undefined if it is too large to be read. others is another
 * placement to mark.
 */
export function pictureOf(network: FlowNetwork, others: readonly FlowComparedTask[] = []): Picture | undefined {
  if (network.nodes.length > mostBoxes) return undefined
  const into = network.nodes.map((): number[] => [])
  const out = network.nodes.map((): number[] => [])
  const through = network.nodes.map(() => 0)
  network.arcs.forEach((arc, i) => {
    into[arc.to]?.push(i)
    out[arc.from]?.push(i)
    through[arc.from] = (through[arc.from] ?? 0) + arc.flow
  })
  const arcTo = (i: number) => (out[i] ?? []).map((a) => network.arcs[a]?.to ?? -1)
  /** Slots stand beside their machine; aggregators below the classes. */
  const machineOrder = (i: number): string => {
    const node = network.nodes[i]
    if (node?.kind === 'slot')
      return `${network.nodes[arcTo(i)[0] ?? -1]?.name ?? ''} ${String(node.index ?? 0).padStart(3, '0')}`
    return `${node?.kind === 'unscheduled' ? 1 : 0} ${node?.name ?? ''}`
  }
  const classOf = (i: number) => arcTo(i).find((to) => network.nodes[to]?.kind === 'class') ?? -1
  const columns: number[][] = [[], [], [], [], []]
  network.nodes.forEach(({ kind }, i) =>
    kind === 'machine' && !into[i]?.length ? undefined : columns[columnOf[kind]]?.push(i)
  )
  const compare = (a: string, b: string) => a.localeCompare(b, undefined, { numeric: true })
  for (const column of columns.slice(1)) column.sort((a, b) => compare(machineOrder(a), machineOrder(b)))
  columns[0]?.sort(
    (a, b) =>
      (columns[1]?.indexOf(classOf(a)) ?? 0) - (columns[1]?.indexOf(classOf(b)) ?? 0) ||
      compare(network.nodes[a]?.name ?? '', network.nodes[b]?.name ?? '')
  )
  const height = Math.max(5, ...columns.map(({ length }) => length)) * rowHeight
  const place = new Map<number, number>()
  for (const column of columns) column.forEach((i, row) => place.set(i, ((row + 0.5) * height) / column.length))
  // A machine stands in the middle of its slots.
  for (const i of columns[3] ?? []) {
    const slots = (columns[2] ?? []).filter((slot) => arcTo(slot).includes(i)).map((slot) => place.get(slot) ?? 0)
    if (slots.length) place.set(i, (Math.min(...slots) + Math.max(...slots)) / 2)
  }
  apart(columns[3] ?? [], place, height)
  const sinkFlow = network.arcs
    .filter(({ to }) => network.nodes[to]?.kind === 'sink')
    .reduce((sum, { flow }) => sum + flow, 0)
  const boxes = network.nodes.flatMap((node, index): Box[] => {
    if (!place.has(index)) return [] // a machine on which no task may run
    const costs =
      node.kind === 'slot' || node.kind === 'machine' || node.kind === 'unscheduled'
        ? [...new Set((into[index] ?? []).map((a) => network.arcs[a]?.cost ?? 0))].sort((a, b) => a - b)
        : []
    return [
      {
        index,
        kind: node.kind,
        name: node.kind === 'slot' ? String(node.index ?? 0) : node.name,
        tasks: node.tasks ?? 0,
        column: columnOf[node.kind],
        y: place.get(index) ?? 0,
        flow: node.kind === 'sink' ? sinkFlow : (through[index] ?? 0),
        costs: node.kind === 'machine' && costs.every((cost) => cost === 0) ? [] : costs,
      },
    ]
  })
  const other = otherFlow(network, others)
  const used = ([0, 1, 2, 3, 4] as const).filter((one) => columns[one]?.length)
  return {
    boxes,
    curves: network.arcs.map(({ from, to, flow, cost }, i) => ({ from, to, flow, cost, other: other[i] ?? 0 })),
    columns: used,
    height,
  }
}

/** Moves boxes of a sorted column apart that would overlap. */
function apart(column: readonly number[], place: Map<number, number>, height: number): void {
  const gap = Math.min(rowHeight, height / Math.max(1, column.length))
  let last = -gap / 2
  for (const i of column) {
    last = Math.max(place.get(i) ?? 0, last + gap)
    place.set(i, last)
  }
  let limit = height - gap / 2
  for (const i of column.toReversed()) {
    limit = Math.min(place.get(i) ?? 0, limit)
    place.set(i, limit)
    limit -= gap
  }
}

/**
 * How much another placement sends along each arc: task by task, along the arc to its machine that
 * has its cost.
 */
function otherFlow(network: FlowNetwork, tasks: readonly FlowComparedTask[]): number[] {
  const out = network.arcs.map(() => 0)
  const find = (kind: Kind, name: string) => network.nodes.findIndex((node) => node.kind === kind && node.name === name)
  const add = (from: number, to: number, cost?: number) => {
    const matches = network.arcs.flatMap((arc, i) =>
      arc.from === from && arc.to === to && (cost === undefined || arc.cost === cost) ? [i] : []
    )
    const first = matches[0]
    if (first !== undefined) out[first] = (out[first] ?? 0) + 1
    return first !== undefined
  }
  for (const task of tasks) {
    const from = taskNode(network, task.task, task.class, task.job)
    if (!task.machine) {
      const aggregator = find('unscheduled', task.job)
      if (add(from, aggregator)) add(aggregator, find('sink', 'sink'))
      continue
    }
    const group = find('class', task.class)
    const machine = find('machine', task.machine)
    const slot = network.arcs.find(
      (arc) =>
        arc.from === group &&
        arc.cost === task.cost &&
        network.arcs.some((next) => next.from === arc.to && next.to === machine)
    )?.to
    add(from, group)
    if (slot !== undefined) {
      add(group, slot)
      add(slot, machine)
    } else add(group, machine)
    add(machine, find('sink', 'sink'))
  }
  return out
}

/** The node of a task: its own, or that of all the alike tasks of its job. */
function taskNode(network: FlowNetwork, task: string, group: string, job: string): number {
  const own = network.nodes.findIndex(({ kind, name, tasks }) => kind === 'task' && name === task && (tasks ?? 1) === 1)
  if (own >= 0) return own
  const leads = (from: number, kind: Kind, name: string) =>
    network.arcs.some(
      (arc) => arc.from === from && network.nodes[arc.to]?.kind === kind && network.nodes[arc.to]?.name === name
    )
  return network.nodes.findIndex(
    ({ kind }, i) => kind === 'task' && leads(i, 'class', group) && leads(i, 'unscheduled', job)
  )
}

/** A way that a task, or one like it, can take. */
export interface Way {
  kind: 'slot' | 'machine' | 'direct' | 'unscheduled'
  machine: string
  slot?: number
  cost: number
  capacity: number
  flow: number
}

/** The ways of a task in the network, the cheapest first. Alike tasks share them. */
export function waysOf(network: FlowNetwork, task: { task: string; class: string; job: string }): Way[] {
  const from = taskNode(network, task.task, task.class, task.job)
  const sinkCost = (machine: number) =>
    network.arcs.find((arc) => arc.from === machine && network.nodes[arc.to]?.kind === 'sink')?.cost ?? 0
  const name = (i: number) => network.nodes[i]?.name ?? ''
  const ways = network.arcs
    .filter((arc) => arc.from === from)
    .flatMap((first): Way[] => {
      switch (network.nodes[first.to]?.kind) {
        case 'unscheduled':
          return [{ kind: 'unscheduled', machine: '', cost: first.cost, capacity: first.capacity, flow: first.flow }]
        case 'machine':
          return [
            {
              kind: 'direct',
              machine: name(first.to),
              cost: first.cost + sinkCost(first.to),
              capacity: first.capacity,
              flow: first.flow,
            },
          ]
        case 'class':
          return network.arcs
            .filter((arc) => arc.from === first.to)
            .map((arc): Way => {
              const at = network.nodes[arc.to]
              if (at?.kind !== 'slot')
                return {
                  kind: 'machine',
                  machine: name(arc.to),
                  cost: first.cost + arc.cost + sinkCost(arc.to),
                  capacity: arc.capacity,
                  flow: arc.flow,
                }
              const on = network.arcs.find((next) => next.from === arc.to)
              return {
                kind: 'slot',
                machine: name(on?.to ?? -1),
                slot: at.index ?? 0,
                cost: first.cost + arc.cost + (on?.cost ?? 0) + sinkCost(on?.to ?? -1),
                capacity: arc.capacity,
                flow: arc.flow,
              }
            })
        default:
          return []
      }
    })
  return ways.sort(
    (a, b) =>
      a.cost - b.cost ||
      a.machine.localeCompare(b.machine, undefined, { numeric: true }) ||
      (a.slot ?? 0) - (b.slot ?? 0)
  )
}
