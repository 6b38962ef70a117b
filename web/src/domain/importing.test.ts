import { describe, expect, it } from 'vitest'
import { filterItems, itemsAsText, readImport, readLine, readReport, shareDone, sortItems, type ImportItem } from './importing'

const item = (name: string, change: Partial<ImportItem> = {}): ImportItem => ({ source: '', apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name, message: 'refused', ...change })

describe('a line of the stream', () => {
  it('tells progress, the report or the error', () => {
    expect(readLine({ progress: { phase: 'applying', done: 3, total: 9, kind: 'Pod' } })).toEqual({ progress: { phase: 'applying', done: 3, total: 9, kind: 'Pod' } })
    expect(readLine({ error: { message: 'nothing in it', details: ['a.yaml: empty', { field: 'b.yaml', message: 'not YAML' }] } })).toEqual({ error: { message: 'nothing in it', details: ['a.yaml: empty', 'b.yaml: not YAML'] } })
    expect(readLine({ report: {} })).toHaveProperty('report.created', 0)
  })
  it('is nothing when it is something else', () => {
    expect([readLine(undefined), readLine('x'), readLine({}), readLine({ progress: 1 })]).toEqual([undefined, undefined, undefined, undefined])
  })
  it('keeps a phase that is not known from breaking anything', () => {
    expect(readLine({ progress: { phase: 'dancing' } })).toEqual({ progress: { phase: 'reading', done: 0, total: 0, kind: '' } })
  })
})

describe('what the server says of its import', () => {
  it('is none until it says so', () => {
    expect(readImport({})).toEqual({ state: 'none' })
    expect(readImport({ state: 'running', progress: { phase: 'clearing', done: 1, total: 2 } })).toEqual({ state: 'running', progress: { phase: 'clearing', done: 1, total: 2, kind: '' } })
    expect(readImport({ state: 'failed', error: { message: 'no' } })).toEqual({ state: 'failed', error: { message: 'no', details: [] } })
  })
})

describe('a report', () => {
  it('counts what its lists were cut to', () => {
    const report = readReport({ failed: [{ name: 'a' }], failedTotal: 1200, skipped: [{ name: 'b' }] })
    expect(report.totals).toEqual({ failed: 1200, skipped: 1, warnings: 0 })
    expect(report.items.failed[0]).toEqual({ source: '', apiVersion: '', kind: '', namespace: '', name: 'a', message: '' })
  })
  it('has a configuration only when one was in it', () => {
    expect(readReport({}).configuration).toBeUndefined()
    expect(readReport({ configuration: { applied: true, revision: 4, removed: [{ field: 'leaderElection', message: 'no effect' }] } }).configuration).toEqual({ applied: true, revision: 4, message: '', removed: [{ field: 'leaderElection', message: 'no effect' }] })
  })
})

describe('its items', () => {
  const all = [item('b', { message: 'cpu is missing' }), item('a', { kind: 'Node', namespace: '' }), item('c', { source: 'x.yaml' })]
  it('are found by every word', () => {
    expect(filterItems(all, ' ').length).toBe(3)
    expect(filterItems(all, 'shop/b CPU').map((i) => i.name)).toEqual(['b'])
    expect(filterItems(all, 'x.yaml').map((i) => i.name)).toEqual(['c'])
    expect(filterItems(all, 'b x.yaml')).toEqual([])
  })
  it('are sorted both ways', () => {
    expect(sortItems(all, 'name').map((i) => i.name)).toEqual(['a', 'b', 'c'])
    expect(sortItems(all, '-kind').map((i) => i.name)).toEqual(['b', 'c', 'a'])
    expect(sortItems(all, '')).toBe(all)
  })
  it('become a text of one line each', () => {
    expect(itemsAsText([item('a', { message: 'two\n\tlines', source: 'x.yaml' })])).toBe('v1\tPod\tshop/a\ttwo lines\tx.yaml')
  })
})

it('says how far something is only where that is known', () => {
  expect([shareDone({ done: 1, total: 4 }), shareDone({ done: 9, total: 4 }), shareDone({ done: 9, total: 0 })]).toEqual([0.25, 1, undefined])
})
