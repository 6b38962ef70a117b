import { describe, expect, it } from 'vitest'
import {
  cellText,
  columnWidths,
  readColumns,
  readRow,
  RowFilter,
  RowSorter,
  shownColumns,
  type RawTable,
  type TableRow,
} from './table'

const raw: RawTable = {
  columnDefinitions: [
    { name: 'Name', type: 'string', priority: 0 },
    { name: 'Ready', type: 'string', priority: 0 },
    { name: 'Restarts', type: 'integer', priority: 0 },
    { name: 'Age', type: 'string', priority: 0 },
    { name: 'Nominated Node', type: 'string', priority: 1 },
    { name: 'Capacity', type: 'string', priority: 0 },
  ],
}
const columns = readColumns(raw) ?? []
const row = (
  key: string,
  cells: (string | number)[],
  more: { labels?: Record<string, string>; creationTimestamp?: string } = {}
): TableRow => {
  const [namespace, name] = key.split('/')
  const made = readRow(
    { cells: [name ?? '', ...cells], object: { metadata: { name: name ?? '', namespace: namespace ?? '', ...more } } },
    undefined
  )
  if (!made) throw new Error(key)
  return made
}
const all = shownColumns(columns, { namespace: true, wide: true, namespaceTitle: 'Namespace' })
const names = (rows: TableRow[]) => rows.map((r) => r.key)

describe('columns', () => {
  it('are kubectl’s, with the namespace after the name', () => {
    expect(
      shownColumns(columns, { namespace: true, wide: false, namespaceTitle: 'Namespace' }).map((c) => c.id)
    ).toEqual(['name', 'namespace', 'ready', 'restarts', 'age', 'capacity'])
    expect(all.map((c) => c.id)).toContain('nominated-node')
  })
  it('stay the same when a change comes without them', () => {
    expect(readColumns({ columnDefinitions: null })).toBeUndefined()
  })
  it('are as wide as their contents', () => {
    const { widths, pixels } = columnWidths(all, [row('a/b', ['1/1', 0, '1s', '<none>', '1'])], 0)
    expect(widths[0]).toBe('minmax(120px, 216px)')
    expect(pixels).toHaveLength(all.length)
    expect(pixels[0]).toBe(120)
    expect(columnWidths(all, [row(`a/${'long-'.repeat(20)}`, ['1/1', 0, '1s', '<none>', '1'])], 0).widths[0]).toBe(
      'minmax(320px, 1fr)'
    )
  })
})

describe('rows', () => {
  it('without an object take their name from the first cell and their namespace from the list', () => {
    expect(readRow({ cells: ['web-1', '1/1'] }, 'shop')).toMatchObject({
      key: 'shop/web-1',
      name: 'web-1',
      namespace: 'shop',
    })
    expect(readRow({ cells: [''] }, 'shop')).toBeUndefined()
  })
  it('compute their age from their creation time, or show the server’s', () => {
    const age = all.find((c) => c.id === 'age')
    if (!age) throw new Error('no age')
    expect(
      cellText(
        row('a/b', ['', 0, '5d'], { creationTimestamp: '2026-01-01T00:00:00Z' }),
        age,
        Date.parse('2026-01-01T00:00:30Z')
      )
    ).toBe('30s')
    expect(cellText(row('a/b', ['', 0, '5d']), age, 0)).toBe('5d')
  })
})

describe('sorting', () => {
  const sort = (rows: TableRow[], by: string) => names(new RowSorter().sorted([...rows], all, by))
  it('compares numbers in names as numbers, and names before namespaces', () => {
    const rows = [row('b/web-2', []), row('a/web-10', []), row('a/web-2', [])]
    expect(sort(rows, 'name')).toEqual(['a/web-2', 'b/web-2', 'a/web-10'])
    expect(sort(rows, '-name')).toEqual(['a/web-10', 'b/web-2', 'a/web-2'])
    expect(sort(rows, 'namespace')).toEqual(['a/web-2', 'a/web-10', 'b/web-2'])
  })
  it('compares numbers, fractions, durations and quantities', () => {
    const rows = [
      row('n/a', ['2/10', 10, '3h', '', '500Mi']),
      row('n/b', ['10/10', 9, '90m', '', '2Gi']),
      row('n/c', ['2/9', 1, '10s', '', '1Gi']),
    ]
    expect(
      ['restarts', 'ready', 'age', 'capacity'].map((by) =>
        sort(rows, by)
          .map((k) => k.at(-1))
          .join('')
      )
    ).toEqual(['cba', 'cab', 'cba', 'acb'])
  })
  it('does not reuse the keys of another column', () => {
    const sorter = new RowSorter()
    const rows = [row('n/a', ['', 2]), row('n/b', ['', 1])]
    expect(names(sorter.sorted([...rows], all, 'restarts'))).toEqual(['n/b', 'n/a'])
    expect(names(sorter.sorted([...rows], all, 'name'))).toEqual(['n/a', 'n/b'])
  })
  it('of ten thousand rows is quick after one of them changed', () => {
    const rows = Array.from({ length: 10_000 }, (_, i) =>
      row(`ns-${i % 7}/web-${(i * 7919) % 10_000}`, ['1/1', i % 5, '1s'])
    )
    const sorter = new RowSorter()
    const took = () => {
      const started = performance.now()
      sorter.sorted([...rows], all, 'restarts')
      return performance.now() - started
    }
    const first = took()
    // The best of several: other work on the machine may delay any of them.
    expect(Math.min(took(), took(), took())).toBeLessThan(first)
  })
})

describe('filtering', () => {
  it('requires every word in cells, key or labels', () => {
    const rows = [
      row('shop/web-1', ['1/1'], { labels: { app: 'web' } }),
      row('shop/db-1', ['0/1'], { labels: { app: 'db' } }),
    ]
    const filter = new RowFilter()
    expect(
      ['app=web', '0/1', 'shop 1/1', 'nothing', ''].map((text) => names(filter.filter(rows, text)).length)
    ).toEqual([1, 1, 1, 0, 2])
  })
})
