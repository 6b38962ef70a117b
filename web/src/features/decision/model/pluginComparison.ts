// The values that a plugin compared when it rejected a node, formatted for display.

import type { Cycle, FilterResult, ResourceUse } from '@/api/types'
import { amountOf, formatAmount } from '@/kubernetes/quantity'

export type Comparison = NonNullable<FilterResult['comparisons']>[number]

/** Comparisons by node and plugin; not every rejected node has one. */
export function comparisons(cycle: Cycle): (node: string, plugin: string) => Comparison | undefined {
  const byKey = new Map((cycle.filter?.comparisons ?? []).map((c) => [`${c.node} ${c.plugin}`, c]))
  return (node, plugin) => byKey.get(`${node} ${plugin}`)
}

export interface ResourceLine {
  name: string
  allocatable: string
  inUse: string
  requested: string
  /** In use and requested together. */
  total: string
  left: string
  short: boolean
  /** In use, as a number, and the pods that hold it. */
  held: number
  use: ResourceUse | undefined
}

export function resourceLines(comparison: Comparison): ResourceLine[] {
  return (comparison.resources ?? []).map((r) => {
    const text = (value: number) => amountOf(r.name, value)
    const left = r.allocatable - r.inUse - r.requested
    return {
      name: r.name,
      allocatable: text(r.allocatable),
      inUse: text(r.inUse),
      requested: text(r.requested),
      total: text(r.inUse + r.requested),
      left: left < 0 ? `−${text(-left)}` : text(left),
      short: left < 0,
      held: r.inUse,
      use: r.use,
    }
  })
}

export function taintText(taint: { key: string; value?: string; effect?: string }): string {
  return `${taint.key}${taint.value ? `=${taint.value}` : ''}${taint.effect ? `:${taint.effect}` : ''}`
}

type Term = NonNullable<Comparison['terms']>[number]

/** The requirement as written: key In [a, b]. */
export function termText(term: Pick<Term, 'key' | 'operator' | 'values'>): string {
  return `${term.key} ${term.operator}${term.values?.length ? ` [${term.values.join(', ')}]` : ''}`
}

export type Note =
  | { kind: 'short'; resource: string; amount: string }
  | { kind: 'podsFull' }
  | { kind: 'taint'; text: string }
  | { kind: 'term'; key: string; actual: string | null }
  | { kind: 'ports'; text: string }
  | { kind: 'devices'; onNode: number; inUse: number }
  /** A term of pod affinity that no pod in the domain meets, or of anti-affinity that `pod` violates. */
  | { kind: 'podTerm'; rule: PodTerm['rule']; domain: string; pod: string | undefined }
  /**
   * `fewest` is the only domain with the minimum; `few`: there are fewer domains than minDomains,
   * so the minimum counts as 0.
   */
  | {
      kind: 'spread'
      domain: string
      matching: number
      minimum: number
      fewest: string
      few: { domains: number; minDomains: number } | undefined
    }
  | { kind: 'claim'; claim: string; largest: string | undefined }

export function noteOf(comparison: Comparison): Note | undefined {
  const short = resourceLines(comparison).find((r) => r.short)
  if (short?.name === 'pods') return { kind: 'podsFull' }
  if (short) return { kind: 'short', resource: short.name, amount: short.left.slice(1) }
  if (comparison.taint)
    return { kind: 'taint', text: taintText({ key: comparison.taint.key, value: comparison.taint.value ?? '' }) }
  const term = comparison.terms?.[0]
  if (term) return { kind: 'term', key: term.key, actual: term.actual }
  const podTerm = comparison.podTerms?.[0]
  if (podTerm) return podTermNote(podTerm)
  const spread = comparison.spread?.[0]
  if (spread) return spreadNote(spread)
  const claim = comparison.claims?.[0]
  if (claim) return claimNote(claim)
  if (comparison.ports?.length) return { kind: 'ports', text: comparison.ports.map((p) => String(p.port)).join(', ') }
  const devices = comparison.devices?.[0]
  return devices && devicesNote(devices)
}

type PodTerm = NonNullable<Comparison['podTerms']>[number]
type Spread = NonNullable<Comparison['spread']>[number]
type Claim = NonNullable<Comparison['claims']>[number]
type Devices = NonNullable<Comparison['devices']>[number]

export function podTermNote({ rule, topologyKey, domain, pod }: PodTerm): Note {
  if (domain === null) return { kind: 'term', key: topologyKey, actual: null }
  return { kind: 'podTerm', rule, domain: `${topologyKey}=${domain}`, pod: pod?.name }
}

export function spreadNote({
  topologyKey,
  domain,
  matching,
  minimum,
  domains = 0,
  minDomains = 0,
  fewest = [],
  fewestCount,
}: Spread): Note {
  if (domain === null) return { kind: 'term', key: topologyKey, actual: null }
  const [only] = fewestCount === 1 ? fewest : []
  return {
    kind: 'spread',
    domain: `${topologyKey}=${domain}`,
    matching,
    minimum,
    fewest: only ? `${topologyKey}=${only.name}` : '',
    few: domains < minDomains ? { domains, minDomains } : undefined,
  }
}

export function claimNote({ claim, provisionable, largest }: Claim): Note {
  return { kind: 'claim', claim, largest: provisionable ? formatAmount(largest ?? 0, 'bytes') : undefined }
}

export function devicesNote({ drivers = [] }: Devices): Note {
  return { kind: 'devices', onNode: sum(drivers.map((d) => d.onNode)), inUse: sum(drivers.map((d) => d.inUse)) }
}

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)
