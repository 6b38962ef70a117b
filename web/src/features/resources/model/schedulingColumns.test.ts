import { expect, test } from 'vitest'
import { buildCluster, node, pod, requests } from '@/kubernetes/testing'
import { resourcesOf, schedulingColumns } from './schedulingColumns'
import { RowSorter, type TableRow } from './table'

const gpu = node('gpu', {}, { cpu: '4', memory: '8Gi', pods: '10', 'nvidia.com/gpu': '2' })
gpu.spec = { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] }
const view = buildCluster(
  new Map([
    ['plain', node('plain')],
    ['gpu', gpu],
  ]),
  new Map([['default/one', pod('one', { ...requests('1', '4Gi'), nodeName: 'gpu' })]])
)
const title = { resource: (name: string) => `${name} %`, pods: 'Pods', taints: 'Taints' }
const row = (name: string): TableRow => ({
  key: name,
  name,
  namespace: undefined,
  uid: undefined,
  created: undefined,
  labels: {},
  cells: [name],
})

test('shows the requested share of each resource, pods and taints', () => {
  const { columns, extend } = schedulingColumns(resourcesOf(view.totals), 2, title)
  expect(columns.map(({ title: text }) => text)).toEqual(['cpu %', 'memory %', 'GPU %', 'Pods', 'Taints'])
  const cells = (name: string) => {
    const extended = extend(row(name), view.byName.get(name))
    return columns.map(({ index }) => extended.cells[index])
  }
  expect(cells('gpu')).toEqual([25, 50, 0, 1, 'gpu=yes:NoSchedule'])
  expect(cells('plain')).toEqual([0, 0, '–', 0, ''])
})

test('keeps a row until its node changes, so that sorting stays cheap', () => {
  const { columns, extend } = schedulingColumns(['cpu'], 1, title)
  const rows = ['plain', 'gpu'].map(row)
  const extended = rows.map((one) => extend(one, view.byName.get(one.name)))
  expect(rows.map((one) => extend(one, view.byName.get(one.name)))).toEqual(extended)
  expect(extend(rows[0] as TableRow, view.byName.get('plain'))).toBe(extended[0])
  expect(new RowSorter().sorted(extended, columns, '-requested-cpu').map(({ name }) => name)).toEqual(['gpu', 'plain'])
})
