// Columns of the resource tables: what is shown and what is sorted by. kubectl's own
// columns (the Table representation) will replace the generic ones.

import type { KindInfo, KubeObject, Node, Pod } from '@/api/types'
import { compareNames, readiness, zoneLabel, type NodeView } from './cluster'
import { objectKey } from './collection'
import { ownerOf, podRequests, podStatus } from './pods'
import { formatAmount, formatPair } from './quantity'
import { ageOf } from './time'

export interface Column {
  id: string
  /** Under resources. in the messages. */
  label: string
  width: string
  numeric?: boolean
  /** Left out on narrow screens. */
  optional?: boolean
  text(object: KubeObject, context: ColumnContext): string
  /** What to sort by when that is not the text. */
  order?(object: KubeObject, context: ColumnContext): number | string
}

export interface ColumnContext {
  now: number
  nodeView(name: string): NodeView | undefined
}

const name: Column = { id: 'name', label: 'colName', width: 'minmax(150px, 2fr)', text: (o) => o.metadata.name }
const namespace: Column = { id: 'namespace', label: 'colNamespace', width: 'minmax(80px, 1fr)', text: (o) => o.metadata.namespace ?? '' }
const age: Column = {
  id: 'age',
  label: 'colAge',
  width: '64px',
  text: (o, c) => ageOf(o.metadata.creationTimestamp, c.now),
  order: (o) => -Date.parse(o.metadata.creationTimestamp ?? '') || 0,
}

function podAmount(id: 'cpu' | 'memory', label: string): Column {
  const value = (o: KubeObject) => podRequests(o as Pod).get(id) ?? 0
  return {
    id,
    label,
    width: '72px',
    numeric: true,
    optional: true,
    text: (o) => (value(o) ? formatAmount(value(o), id === 'cpu' ? 'cpu' : 'bytes') : ''),
    order: value,
  }
}

const podColumns: Column[] = [
  name,
  namespace,
  { id: 'status', label: 'colStatus', width: '118px', text: (o) => podStatus(o as Pod) },
  { id: 'node', label: 'colNode', width: 'minmax(80px, 1fr)', text: (o) => (o as Pod).spec?.nodeName ?? '' },
  podAmount('cpu', 'colCpu'),
  podAmount('memory', 'colMemory'),
  {
    id: 'priority',
    label: 'colPriority',
    width: '76px',
    numeric: true,
    optional: true,
    text: (o) => String((o as Pod).spec?.priority ?? 0),
    order: (o) => (o as Pod).spec?.priority ?? 0,
  },
  { id: 'owner', label: 'colOwner', width: 'minmax(70px, 1fr)', optional: true, text: (o) => ownerOf(o as Pod)?.name ?? '' },
  age,
]

function nodeMeter(id: 'cpu' | 'memory' | 'pods', label: string): Column {
  return {
    id,
    label,
    width: id === 'memory' ? '112px' : '84px',
    numeric: true,
    text: (o, c) => {
      const meter = c.nodeView(o.metadata.name)?.[id]
      if (!meter) return ''
      const pair = formatPair(meter.requested, meter.allocatable, meter.unit)
      return `${pair.used} / ${pair.allocatable}${pair.unit ? ` ${pair.unit}` : ''}`
    },
    order: (o, c) => c.nodeView(o.metadata.name)?.[id].requested ?? 0,
  }
}

/** What kubectl shows as STATUS; "–" when the node has no Ready condition. */
export function nodeStatus(node: Node): string {
  const ready = readiness(node)
  const cordoned = node.spec?.unschedulable ? 'SchedulingDisabled' : ''
  return [ready ?? (cordoned ? '' : '–'), cordoned].filter(Boolean).join(',')
}

const nodeColumns: Column[] = [
  name,
  { id: 'status', label: 'colStatus', width: 'minmax(90px, 1.1fr)', text: (o) => nodeStatus(o as Node) },
  { id: 'zone', label: 'colZone', width: 'minmax(70px, 1fr)', optional: true, text: (o) => o.metadata.labels?.[zoneLabel] ?? '' },
  nodeMeter('cpu', 'colCpu'),
  nodeMeter('memory', 'colMemory'),
  nodeMeter('pods', 'colPods'),
  {
    id: 'taints',
    label: 'colTaints',
    width: 'minmax(90px, 1.2fr)',
    optional: true,
    text: (o) => ((o as Node).spec?.taints ?? []).map((t) => `${t.key}${t.value ? `=${t.value}` : ''}:${t.effect}`).join(', '),
  },
  age,
]

export function columnsOf(kind: KindInfo): Column[] {
  if (!kind.group && kind.resource === 'pods') return podColumns
  if (!kind.group && kind.resource === 'nodes') return nodeColumns
  return kind.namespaced ? [name, namespace, age] : [name, age]
}

/** "name" ascending, "-name" descending. An unknown column sorts by name. */
export function sortObjects(objects: KubeObject[], columns: readonly Column[], sort: string, context: ColumnContext): KubeObject[] {
  const descending = sort.startsWith('-')
  const column = columns.find((c) => c.id === sort.replace(/^-/, '')) ?? columns[0]
  if (!column) return objects
  const keyed = objects.map((object) => ({ object, by: column.order?.(object, context) ?? column.text(object, context), key: objectKey(object) }))
  keyed.sort((a, b) => {
    const order = typeof a.by === 'number' && typeof b.by === 'number' ? a.by - b.by : compareNames(String(a.by), String(b.by))
    return (descending ? -order : order) || compareNames(a.key, b.key)
  })
  return keyed.map((k) => k.object)
}

/** Every word has to be in a label or in what a column shows. */
export function filterObjects(objects: Iterable<KubeObject>, columns: readonly Column[], text: string, context: ColumnContext): KubeObject[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const all = [...objects]
  if (!words.length) return all
  return all.filter((object) => {
    const labels = Object.entries(object.metadata.labels ?? {}).map(([k, v]) => `${k}=${v}`)
    const shown = [objectKey(object), ...columns.filter((c) => c.id !== 'age').map((c) => c.text(object, context)), ...labels].join(' ').toLowerCase()
    return words.every((word) => shown.includes(word))
  })
}
