// Why a plugin rejected a node, what removing pods would change, and what preemption may do. The Go
// package scheduler/explain says the same, and scheduler/explain/testdata/cells.json tests both for
// the same words.

import type { Cycle, Preemption } from '@/api/types'
import { amountOf, formatAmount } from '@/kubernetes/quantity'
import { line, type ComparisonLine } from './comparisonLine'
import { alignmentLines, featureLines, limitLines, volumeLines } from './passed'
import { comparisons, taintText, termText, type Comparison } from './pluginComparison'
import { unmetTerm } from './podTerms'
import { minimumLine, spreadLine } from './spread'

/** What the plugin compared, a line for each value; empty if the record has no comparison. */
export function comparedLines(cycle: Cycle, node: string, plugin: string): ComparisonLine[] {
  const c = comparisons(cycle)(node, plugin)
  if (!c) return []
  const { taint, terms = [], podTerms = [], spread = [], ports = [], claims = [], devices = [] } = c
  return [
    ...(c.resources ?? []).map(resourceLine),
    ...(taint ? [line(plugin === 'NodeUnschedulable' ? 'cordoned' : 'taint', { taint: taintText(taint) })] : []),
    ...terms.map((term) => termLine(terms, term)),
    ...podTerms.map(unmetTerm),
    ...spread.flatMap((s) => spreadLines(cycle, s)),
    ...ports.map((p) => line('portInUse', { port: `${p.hostIP ? `${p.hostIP}:` : ''}${p.port}/${p.protocol}` })),
    ...claims.map(claimLine),
    ...devices.map(deviceLine),
    ...(devices.length && devices.every((d) => metBy(devices, d)) ? [line('devicesTogether')] : []),
    ...alignmentLines(c),
    ...limitLines(c),
    ...volumeLines(c),
    ...featureLines(c),
  ]
}

function resourceLine({
  name,
  requested,
  inUse,
  allocatable,
}: NonNullable<Comparison['resources']>[number]): ComparisonLine {
  if (name === 'pods') return line('podsFull', { inUse, allocatable })
  const text = (value: number) => amountOf(name, value)
  const total = inUse + requested
  return line('resourceShort', {
    resource: name,
    inUse: text(inUse),
    pod: text(requested),
    total: text(total),
    allocatable: text(allocatable),
    left: text(total - allocatable),
  })
}

type Term = NonNullable<Comparison['terms']>[number]

function termLine(all: readonly Term[], term: Term): ComparisonLine {
  const source = line(`source.${term.source}`, { volume: term.volume ?? '', claim: term.claim ?? '' })
  const several = all.some(
    (other) => other.source === term.source && other.claim === term.claim && other.term !== term.term
  )
  const of = several ? line('sourceAlternative', { source, n: term.term + 1 }) : source
  if (!term.key) return line('termEmpty', { source: of })
  if (term.actual === null) return line('termMissing', { source: of, requirement: termText(term), key: term.key })
  return line('termOther', { source: of, requirement: termText(term), actual: `${term.key}=${term.actual}` })
}

type Spread = NonNullable<Comparison['spread']>[number]

function spreadLines(cycle: Cycle, s: Spread): ComparisonLine[] {
  if (s.domain === null) return [line('spreadNoLabel', { key: s.topologyKey })]
  const lines = [spreadLine(s)]
  if (!s.nodeTaintsPolicy) return lines
  const elsewhere = s.matching - (s.here ?? 0)
  if (elsewhere > 0) lines.push(line('spreadElsewhere', { n: elsewhere, matching: s.matching }))
  return [...lines, minimumLine(s), ...heldLines(cycle, s)]
}

const mostNamed = 4
const names = (all: readonly string[]): string | ComparisonLine =>
  all.length > mostNamed
    ? line('andMore', { listed: all.slice(0, mostNamed - 1).join(', '), n: all.length - mostNamed + 1 })
    : all.join(', ')

/**
 * Why the pod cannot use the domains that have the minimum, if all their nodes are known to be
 * rejected by other plugins.
 */
function heldLines({ filter }: Cycle, s: Spread): ComparisonLine[] {
  const fewest = s.fewest ?? []
  if ((s.domains ?? 0) < Math.max(s.minDomains ?? 0, 1) || s.fewestCount !== fewest.length) return []
  const first = new Map<string, string>()
  for (const { node, plugin } of filter?.reasons ?? []) if (!first.has(node)) first.set(node, plugin)
  const held: ComparisonLine[] = []
  for (const { name, nodes = [], nodeCount } of fewest) {
    const by = nodes.map((node) => first.get(node) ?? '')
    if (!nodes.length || nodeCount !== nodes.length || by.some((plugin) => !plugin || plugin === 'PodTopologySpread'))
      return []
    const plugins = [...new Set(by)]
    const [only] = plugins
    const ignored =
      plugins.length > 1
        ? ''
        : only === 'TaintToleration' && s.nodeTaintsPolicy === 'Ignore'
          ? line('heldTaints')
          : only === 'NodeAffinity' && s.nodeAffinityPolicy === 'Ignore'
            ? line('heldAffinity')
            : ''
    held.push(
      line('held', { domain: `${s.topologyKey}=${name}`, plugins: plugins.join(', '), nodes: names(nodes), ignored })
    )
  }
  return held
}

function claimLine({
  claim,
  storageClass,
  requested,
  provisionable,
  largest,
  volume = '',
  missing,
}: NonNullable<Comparison['claims']>[number]): ComparisonLine {
  if (missing) return line('claimMissing', { claim, volume })
  const values = { claim, requested: formatAmount(requested, 'bytes') }
  if (!provisionable) return line('claimNone', values)
  return largest
    ? line('claimTooLarge', { ...values, class: storageClass, largest: formatAmount(largest, 'bytes') })
    : line('claimNoCapacity', { ...values, class: storageClass })
}

type Device = NonNullable<Comparison['devices']>[number]

/** The node could meet the request if it were the only one. */
const enough = (d: Device) =>
  !d.blocked && (d.count ? d.matching - d.matchingInUse >= d.count : d.matching > 0 && !d.matchingInUse)
const requestOf = ({ request }: Device) => request.split('/')[0]
/** The node has enough for the request, or for another alternative of it. */
const metBy = (all: readonly Device[], d: Device) =>
  all.some((other) => other.claim === d.claim && requestOf(other) === requestOf(d) && enough(other))

function deviceLine(d: Device): ComparisonLine {
  const values = {
    request: d.resource || `${d.claim}/${d.request}`,
    matching: d.matching,
    inUse: d.matchingInUse,
    blocked: d.blocked ? line('devicesBlocked') : '',
  }
  return d.count ? line('devicesWanted', { ...values, count: d.count }) : line('devicesWantedAll', values)
}

/** The status of a plugin by which preemption does not try a node. */
const unresolvable = 'UnschedulableAndUnresolvable'

/** What the plugin would say without the pods of the node, and what preemption may do there. */
export function removalLines(cycle: Cycle, node: string, plugin: string): ComparisonLine[] {
  const said = cycle.filter?.reasons.filter((r) => r.node === node) ?? []
  const [first] = said
  if (!first || !said.some((r) => r.plugin === plugin)) return []
  // Preemption goes by the status of the plugin that rejected the node first.
  return [withoutPods(cycle, node, plugin), preemptionOn(cycle, node, first)].filter((found) => found !== undefined)
}

function withoutPods(cycle: Cycle, node: string, plugin: string): ComparisonLine | undefined {
  const c = comparisons(cycle)(node, plugin)
  if (c?.withoutPods) return line(`removal.${c.withoutPods}`, { plugin })
  return (c?.devices ?? []).some((d) => !enough(d) && !d.blocked && d.matching >= Math.max(d.count, 1))
    ? line('removal.devices')
    : undefined
}

function preemptionOn(
  { preemption: p, postFilter }: Cycle,
  node: string,
  by: { plugin: string; status?: string }
): ComparisonLine | undefined {
  if (p?.ineligible) return line(`removal.ineligible.${p.ineligible}`)
  const candidate = p?.candidates.find((c) => c.node === node)
  const unhelpful = p?.unhelpful?.find((u) => u.nodes.includes(node))
  if (candidate) {
    const n = candidate.victims.length + (candidate.victimsDropped ?? 0)
    return line(
      candidate.removedBy ? 'removal.removedByExtender' : node === p?.chosen ? 'removal.chosen' : 'removal.candidate',
      { n },
      n
    )
  }
  if (unhelpful) return unhelpful.why && line(`removal.noVictims.${unhelpful.why}`, { reason: reasonOf(unhelpful) })
  if (by.status === unresolvable && postFilter?.length)
    return line('removal.notTried', { plugin: by.plugin, status: unresolvable })
  if (by.status !== unresolvable && p?.candidates.length && !p.candidatesDropped) return line('removal.enough')
  return undefined
}

function reasonOf({ plugin, reasons }: { plugin?: string; reasons: string[] }): string | ComparisonLine {
  const said = reasons.join(', ') || line('removal.noReason')
  return plugin ? line('removal.reasonOf', { plugin, reason: said }) : said
}

/** Why there is no candidate. */
export type NoCandidates = 'never' | 'victimsTerminating' | 'other' | 'notEnough' | 'nobodyMay' | 'nobodyLower' | 'none'

/** Tells apart that no pod may be evicted, and that evicting those that may is not enough. */
export function noCandidates({ ineligible, unhelpful = [] }: Preemption): NoCandidates {
  if (ineligible) return ineligible
  const any = (...why: string[]) => unhelpful.some((u) => why.includes(u.why ?? ''))
  if (any('notEnough')) return 'notEnough'
  if (any('nobodyMay')) return 'nobodyMay'
  return any('nobodyLower', 'noPods') ? 'nobodyLower' : 'none'
}
