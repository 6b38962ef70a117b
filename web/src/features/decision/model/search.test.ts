import { describe, expect, it } from 'vitest'
import type { Counts, Summary, SummaryPage } from '@/api/types'
import { askFor, current, extended, isNarrowed, refreshed, searchOf, shownFacets, valuesOf } from './search'
import { boundsOf, fromLocalField, secondsOf, toLocalField } from './timeRange'
import { summary } from './testing'

const page = (names: string, next = ''): SummaryPage => ({
  items: [...names].map((name) => summary(name)),
  continue: next,
})
const names = (items: readonly Summary[]) => items.map((s) => s.pod.name).join('')
const now = Date.parse('2026-01-02T04:00:00Z')

describe('the search in the URL', () => {
  it('becomes a request, and an empty one asks for everything', () => {
    expect(askFor(searchOf({}), now)).toEqual({})
    expect(isNarrowed(searchOf({ sort: 'pod' }))).toBe(false)
    const search = searchOf({
      q: ' web ',
      outcome: 'error',
      plugin: 'NodeResourcesFit',
      revision: '3',
      owner: 'Deployment/web',
      last: '15m',
    })
    expect(isNarrowed(search)).toBe(true)
    expect(askFor(search, now)).toEqual({
      q: 'web',
      outcome: 'error',
      plugin: 'NodeResourcesFit',
      revision: 3,
      owner: 'Deployment/web',
      since: '2026-01-02T03:45:00.000Z',
    })
    expect(askFor(searchOf({ since: '2026-01-02T03:00:00Z', until: '2026-01-02T03:30:00Z' }), now)).toEqual({
      since: '2026-01-02T03:00:00Z',
      until: '2026-01-02T03:30:00Z',
    })
  })
  it('asks for a rejected node, with the plugin that rejected it', () => {
    const search = searchOf({ rejectedOn: 'node-b', plugin: 'TaintToleration' })
    expect(isNarrowed(search)).toBe(true)
    expect(askFor(search, now)).toEqual({ rejectedOn: 'node-b', plugin: 'TaintToleration' })
  })
  it('knows ranges of time', () => {
    expect([
      secondsOf('90s'),
      secondsOf('6h'),
      secondsOf('1d'),
      secondsOf('m'),
      secondsOf('0m'),
      secondsOf(''),
    ]).toEqual([90, 21_600, 86_400, undefined, undefined, undefined])
    expect(boundsOf({ last: '', since: '', until: '' }, now)).toEqual({})
    expect(fromLocalField(toLocalField('2026-01-02T03:04:05Z'))).toBe('2026-01-02T03:04:05.000Z')
    expect([toLocalField('soon'), fromLocalField('')]).toEqual(['', ''])
  })
})

describe('the pages of a search', () => {
  it('add up, each decision once', () => {
    expect(extended({ items: page('dc').items, next: '3', read: 0 }, page('cba'))).toMatchObject({
      next: '',
      items: [{ attempt: 1 }, {}, {}, {}],
    })
    expect(names(extended({ items: page('dc').items, next: '3', read: 0 }, page('cba')).items)).toBe('dcba')
  })
  it('count what the server read for them', () => {
    expect(extended({ items: [], next: '3', read: 200 }, { ...page('a'), read: 40 }).read).toBe(240)
  })
  it('keep what was loaded when the first one is requested again', () => {
    const loaded = { items: page('dcba').items, next: '1', read: 0 }
    expect(names(refreshed(loaded, page('fedc', '3')).items)).toBe('fedcba')
    expect(refreshed(loaded, page('fedc', '3')).next).toBe('1')
  })
  it('start anew when decisions in between may be missing', () => {
    expect(refreshed({ items: page('dcba').items, next: '1', read: 0 }, page('zyx', '9'))).toMatchObject({
      next: '9',
      items: [{}, {}, {}],
    })
  })
  it('start anew after a reset, when the only page has everything', () => {
    expect(names(refreshed({ items: page('dcba').items, next: '1', read: 0 }, page('z')).items)).toBe('z')
  })
  it('follow an attempt that is published again', () => {
    const waiting = summary('a', { outcome: 'waiting' })
    const bound = summary('a', { outcome: 'scheduled' })
    expect(current([waiting], [bound], '')).toEqual([bound])
    expect(current([waiting], [bound], 'waiting')).toEqual([])
  })
})

describe('facets', () => {
  const facet = (...values: [string, number][]) => ({
    values: values.map(([value, count]) => ({ value, count })),
    others: 0,
  })
  it('show the chosen value even if no decision has it, and revisions in descending order', () => {
    expect(valuesOf('node', facet(['a', 2]), 'gone')).toEqual([
      { value: 'gone', count: 0 },
      { value: 'a', count: 2 },
    ])
    expect(valuesOf('revision', facet(['2', 9], ['10', 1]), '').map((v) => v.value)).toEqual(['10', '2'])
  })
  it('are shown when they tell decisions apart or are chosen', () => {
    const none = facet()
    const facets = {
      outcome: facet(['scheduled', 1], ['error', 1]),
      namespace: facet(['shop', 2]),
      plugin: none,
      reason: none,
      node: facet(['n', 1]),
      profile: facet(['a', 2]),
      revision: none,
      owner: none,
    }
    const counts: Counts = { matching: 2, kept: 2, facets }
    expect(shownFacets(counts, searchOf({}))).toEqual(['outcome', 'node'])
    expect(shownFacets(counts, searchOf({ profile: 'a', plugin: 'X' }))).toEqual([
      'outcome',
      'plugin',
      'node',
      'profile',
    ])
  })
})
