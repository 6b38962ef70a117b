// What a plugin of Filter compared on a node that it let through.

import type { Cycle } from '@/api/types'
import { amountOf, formatAmount } from '@/kubernetes/quantity'
import { line, type ComparisonLine } from './comparisonLine'
import { taintText, termText, type Comparison } from './pluginComparison'
import { metTerm } from './podTerms'
import { minimumLine, spreadLine } from './spread'

export type Passed =
  /** What the plugin compared; without lines there was nothing to compare. */
  | { kind: 'kept'; lines: ComparisonLine[] }
  /** The record has comparisons, but of other nodes: of `nodes` of them. */
  | { kind: 'otherNodes'; nodes: number }
  /** The recorder does not know what this plugin compares. */
  | { kind: 'unknownPlugin' }
  /** An earlier version made the record. */
  | { kind: 'old' }

/** A plugin that let the node through compared these values on it. */
export function passedAt({ filter }: Cycle, node: string, plugin: string): Passed {
  const passes = filter?.passes
  if (!passes) return { kind: 'old' }
  if (!passes.plugins.includes(plugin)) return { kind: 'unknownPlugin' }
  const at = passes.nodes.indexOf(node)
  if (at < 0) return { kind: 'otherNodes', nodes: passes.nodes.length }
  const resources =
    plugin === 'NodeResourcesFit'
      ? (passes.resources ?? []).map((r) => ({
          name: r.name,
          requested: r.requested,
          inUse: r.inUse[at] ?? 0,
          allocatable: r.allocatable[at] ?? 0,
        }))
      : []
  const comparison = passes.comparisons?.find((c) => c.node === node && c.plugin === plugin)
  return {
    kind: 'kept',
    lines: [
      // Both are 0 where the plugin did not compare the resource.
      ...resources.filter((r) => r.inUse || r.allocatable).map(resourceLine),
      ...(comparison ? passedLines(comparison) : []),
    ],
  }
}

function passedLines(c: Comparison): ComparisonLine[] {
  return [
    ...(c.tolerated ?? []).map(({ by, ...taint }) =>
      line('tolerated', { taint: taintText(taint), toleration: tolerationText(by) })
    ),
    ...(c.terms ?? []).map((term) =>
      term.actual === null
        ? line('termAbsent', { requirement: termText(term), key: term.key })
        : line('term', { requirement: termText(term), actual: `${term.key}=${term.actual}` })
    ),
    ...(c.podTerms ?? []).map(metTerm),
    ...(c.spread ?? []).flatMap((s) => (s.nodeTaintsPolicy ? [spreadLine(s), minimumLine(s)] : [spreadLine(s)])),
    ...(c.ports ?? []).map((p) =>
      line('portFree', { port: `${p.hostIP ? `${p.hostIP}:` : ''}${p.port}/${p.protocol}` })
    ),
    ...(c.claims ?? []).map(claimLine),
    ...(c.devices ?? []).map((d) =>
      line(d.count ? 'devices' : 'devicesAll', {
        request: d.resource ?? `${d.claim}/${d.request}`,
        count: d.count,
        matching: d.matching,
        inUse: d.matchingInUse,
        devices: (d.allocated ?? []).map((a) => a.device).join(', '),
      })
    ),
    ...limitLines(c),
    ...volumeLines(c),
    ...featureLines(c),
    ...(c.aligned ?? []).map((part) => line('aligned', { part: partText(part), zone: part.zone })),
  ]
}

function resourceLine({
  name,
  requested,
  inUse,
  allocatable,
}: {
  name: string
  requested: number
  inUse: number
  allocatable: number
}): ComparisonLine {
  const text = (value: number) => amountOf(name, value)
  return line('resource', {
    resource: name,
    inUse: text(inUse),
    pod: text(requested),
    total: text(inUse + requested),
    allocatable: text(allocatable),
  })
}

function claimLine({
  claim,
  storageClass,
  requested,
  provisionable,
  largest,
  volume = '',
  bound,
}: NonNullable<Comparison['claims']>[number]): ComparisonLine {
  if (bound) return line('claimBound', { claim, volume })
  const values = { claim, requested: formatAmount(requested, 'bytes') }
  if (!provisionable) return line('claimFound', { ...values, volume })
  return largest
    ? line('claimProvisionedUpTo', { ...values, class: storageClass, largest: formatAmount(largest, 'bytes') })
    : line('claimProvisioned', { ...values, class: storageClass })
}

export function limitLines({ limits = [] }: Comparison): ComparisonLine[] {
  return limits.map(({ driver, inUse, requested, limit, missing }) => {
    if (missing) return line('driverMissing', { driver })
    return limit === null
      ? line('limitNone', { driver, requested })
      : line('limit', { driver, inUse, requested, total: inUse + requested, limit })
  })
}

export function volumeLines({ volumes = [] }: Comparison): ComparisonLine[] {
  return volumes.map(({ volume, claim, inUse, pod }) => {
    const name = claim || volume
    if (!inUse) return line('volumeFree', { volume: name })
    return pod
      ? line('volumeInUseBy', { volume: name, pod: `${pod.namespace}/${pod.name}` })
      : line('volumeInUse', { volume: name })
  })
}

export const featureLines = ({ features = [] }: Comparison): ComparisonLine[] =>
  features.map(({ name, declared }) => line(declared ? 'featureDeclared' : 'featureMissing', { feature: name }))

export function alignmentLines({ alignment }: Comparison): ComparisonLine[] {
  if (!alignment) return []
  const short = alignment.zones.flatMap(({ zone, short: lacks }) =>
    lacks.map(({ resource, requested, available, absent }) =>
      absent
        ? line('zoneAbsent', { zone, resource })
        : line('zoneShort', {
            zone,
            resource,
            requested: amountOf(resource, requested),
            available: amountOf(resource, available),
          })
    )
  )
  return [line('notAligned', { part: alignment.container ? partText(alignment) : line('wholePod') }), ...short]
}

const partText = ({ role, container }: { role: string; container?: string }) =>
  container ? `${role} ${container}` : role

/** The toleration as kubectl describes it. */
function tolerationText({
  key,
  operator,
  value,
  effect,
}: {
  key: string
  operator: string
  value?: string
  effect?: string
}): string {
  const what =
    operator === 'Exists'
      ? key
      : operator === 'Equal'
        ? taintText({ key, value: value ?? '' })
        : `${key} ${operator} ${value ?? ''}`
  return `${what}${effect ? `:${effect}` : ''} op=${operator}`.trim()
}
