// What the scheduler looks at, beside kubectl's columns of nodes.

import { share, shortName, type ClusterView, type Meter, type NodeView } from '@/kubernetes/cluster'
import type { Cell, ShownColumn, TableRow } from './table'

/** More would leave no room for names. */
const mostResources = 4

/** CPU, memory, and what else nodes offer. */
export const resourcesOf = ({ cpu, memory, extended }: ClusterView['totals']): string[] =>
  [cpu, memory, ...extended.filter(({ allocatable }) => allocatable > 0)]
    .slice(0, mostResources)
    .map(({ resource }) => resource)

export interface SchedulingColumns {
  columns: ShownColumn[]
  /** The row with the cells of these columns; the same one until the row or its node changes. */
  extend: (row: TableRow, view: NodeView | undefined) => TableRow
}

/** For rows with so many cells: requested ÷ allocatable of the resources in percent, pods, and taints. */
export function schedulingColumns(
  resources: readonly string[],
  firstIndex: number,
  title: { resource: (name: string) => string; pods: string; taints: string }
): SchedulingColumns {
  const columns = [
    ...resources.map((resource) => ({
      id: `requested-${resource}`,
      title: title.resource(shortName(resource)),
      numeric: true,
    })),
    { id: 'pods', title: title.pods, numeric: true },
    { id: 'taints', title: title.taints, numeric: false },
  ].map((column, i): ShownColumn => ({ ...column, description: '', index: firstIndex + i }))
  const cellsOf = (view: NodeView): Cell[] => [
    ...resources.map((resource) => percent(meterOf(view, resource))),
    view.pods.requested,
    view.taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`).join(', '),
  ]
  const known = new WeakMap<TableRow, { view: NodeView; row: TableRow }>()
  return {
    columns,
    extend(row, view) {
      if (!view) return row
      let found = known.get(row)
      if (found?.view !== view) {
        const cells = Array.from({ length: firstIndex }, (_, i) => row.cells[i] ?? null)
        found = { view, row: { ...row, cells: [...cells, ...cellsOf(view)] } }
        known.set(row, found)
      }
      return found.row
    },
  }
}

const meterOf = (view: NodeView, resource: string) =>
  [view.cpu, view.memory, ...view.extended].find((meter) => meter.resource === resource)
/** A dash for a node without the resource. */
const percent = (meter: Meter | undefined) => (meter && meter.allocatable > 0 ? Math.round(share(meter) * 100) : '–')
