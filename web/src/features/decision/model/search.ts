// A search over all decisions that the server keeps: what the URL says, what the server is
// asked, and how its pages add up to one list.

import type { ResultsQuery } from '@/api/simulator'
import type { Facet, Counts, Outcome, Summary, SummaryPage } from '@/api/types'
import { boundsOf, type TimeRange } from './timeRange'

/** The fields with a facet, in the order of the page. */
export const facetFields = ['outcome', 'plugin', 'reason', 'namespace', 'owner', 'node', 'profile', 'revision'] as const
export type FacetField = (typeof facetFields)[number]

/**
 * The fields that a chip shows. `rejectedOn` is a node; beside it, `plugin` is the one that
 * rejected that node.
 */
export const chipFields = ['rejectedOn', ...facetFields] as const
export type ChipField = (typeof chipFields)[number]

/** A search as the URL holds it; an empty field matches everything. */
export type Search = Record<ChipField, string> & TimeRange & { q: string }

export const searchFields: readonly (keyof Search)[] = ['q', ...chipFields, 'last', 'since', 'until']

export function searchOf(query: Record<string, unknown>): Search {
  const text = (name: string) => (typeof query[name] === 'string' ? query[name] : '')
  return {
    q: text('q'),
    rejectedOn: text('rejectedOn'),
    outcome: text('outcome'),
    plugin: text('plugin'),
    reason: text('reason'),
    namespace: text('namespace'),
    owner: text('owner'),
    node: text('node'),
    profile: text('profile'),
    revision: text('revision'),
    last: text('last'),
    since: text('since'),
    until: text('until'),
  }
}

export const isNarrowed = (search: Search): boolean => searchFields.some((name) => search[name] !== '')

/** The search in the form of the API. Relative times count from `now` (ms). */
export function askFor(search: Search, now: number): ResultsQuery {
  const { q, outcome, revision, plugin, reason, namespace, owner, node, profile, rejectedOn } = search
  const texts = Object.fromEntries(
    Object.entries({ q: q.trim(), plugin, reason, namespace, owner, node, profile, rejectedOn }).filter(
      ([, value]) => value !== ''
    )
  )
  return {
    ...texts,
    ...(outcome && { outcome: outcome as Outcome }),
    // What is no number is passed on, so that the server's error says so.
    ...(revision && { revision: (Number(revision) || revision) as number }),
    ...boundsOf(search, now),
  }
}

/** The decisions that are loaded, newest first, and where the next page starts; '' after the last one. */
export interface Loaded {
  items: readonly Summary[]
  next: string
  /** The number of decisions that the server read for `rejectedOn`. */
  read: number
}

export const attemptKey = (s: Pick<Summary, 'pod' | 'attempt'>): string => `${s.pod.uid}/${s.attempt}`

/**
 * The loaded decisions after the first page was requested again. Older ones stay if the new
 * page reaches down to a known decision. Otherwise there may be a gap, so only the new page is left.
 */
export function refreshed(loaded: Loaded, first: SummaryPage): Loaded {
  const last = first.items.at(-1)
  const at = first.continue && last ? loaded.items.findIndex((s) => attemptKey(s) === attemptKey(last)) : -1
  if (at < 0) return { items: first.items, next: first.continue, read: first.read ?? 0 }
  const fresh = new Set(first.items.map(attemptKey))
  return {
    items: [...first.items, ...loaded.items.slice(at + 1).filter((s) => !fresh.has(attemptKey(s)))],
    next: at + 1 < loaded.items.length ? loaded.next : first.continue,
    read: Math.max(loaded.read, first.read ?? 0),
  }
}

export function extended(loaded: Loaded, page: SummaryPage): Loaded {
  const known = new Set(loaded.items.map(attemptKey))
  return {
    items: [...loaded.items, ...page.items.filter((s) => !known.has(attemptKey(s)))],
    next: page.continue,
    read: loaded.read + (page.read ?? 0),
  }
}

/**
 * The loaded decisions as they are now: an attempt is published again when its wait has ended.
 * One whose outcome no longer matches is left out.
 */
export function current(items: readonly Summary[], live: readonly Summary[], outcome: string): Summary[] {
  const now = new Map(live.map((s) => [attemptKey(s), s]))
  return items.map((s) => now.get(attemptKey(s)) ?? s).filter((s) => !outcome || s.outcome === outcome)
}

/**
 * The values of a facet, with the chosen one even if no decision has it. Revisions are in
 * descending order.
 */
export function valuesOf(field: FacetField, facet: Facet, chosen: string): Facet['values'] {
  const values =
    chosen && !facet.values.some((v) => v.value === chosen)
      ? [{ value: chosen, count: 0 }, ...facet.values]
      : facet.values
  return field === 'revision' ? [...values].sort((a, b) => Number(b.value) - Number(a.value)) : values
}

/** The facets that are worth showing: those that tell decisions apart, and those that are chosen. */
export function shownFacets(counts: Counts, search: Search): FacetField[] {
  return facetFields.filter((field) => {
    const [first, ...more] = counts.facets[field].values
    return search[field] !== '' || more.length > 0 || (!!first && first.count < counts.matching)
  })
}
