// What CapacityScheduling recorded about a pod's cycle: the arithmetic of its namespace, of all
// quotas together, and of the other namespaces.

import type { Cycle, Summary } from '@/api/types'

/** CPU is in thousandths of a core, other resources in their own unit. */
export interface Sum {
  resource: string
  /** By other pods of the namespace, or of all quotas. */
  used: number
  /** By pods that wait for their victims to go. */
  nominated: number
  requested: number
  min: number
  /** undefined: unlimited; always so for all quotas together. */
  max: number | undefined
}

export interface QuotaFacts {
  quota: string
  /** The rule by which the pod was rejected; '' if it passed. */
  exceeded: 'max' | 'total' | ''
  /**
   * From whom the pod may take: from those above their min, or from less important pods of its own
   * namespace.
   */
  takes: 'borrowed' | 'own'
  own: readonly Sum[]
  all: readonly Sum[]
  /** Recorded only for rejected pods, those that borrow first. */
  others: readonly { namespace: string; sums: readonly Sum[] }[]
}

export const quotaPlugin = 'CapacityScheduling'

/** undefined when the plugin had nothing to say: it is not enabled, or the namespace has no quota. */
export function quotaFacts(cycle: Pick<Cycle, 'facts'>): QuotaFacts | undefined {
  const facts = new Map(
    (cycle.facts ?? [])
      .filter((fact) => fact.plugin === quotaPlugin && !fact.node)
      .map(({ key, value }) => [key, value])
  )
  const quota = facts.get('quota')
  if (quota === undefined) return undefined
  const own: Sum[] = []
  const all: Sum[] = []
  const others = new Map<string, Sum[]>()
  for (const [key, value] of facts) {
    const [, scope, namespace, resource] = /^(own|all|namespace (\S+)) (\S+)$/.exec(key) ?? []
    const sum = resource && readSum(resource, value)
    if (!sum) continue
    if (scope === 'own') own.push(sum)
    else if (scope === 'all') all.push(sum)
    else if (namespace) others.set(namespace, [...(others.get(namespace) ?? []), sum])
  }
  const exceeded = facts.get('exceeded')
  const takes = facts.get('takes') ?? (own.every((sum) => asked(sum) <= sum.min) ? 'borrowed' : 'own')
  const borrows = (sums: readonly Sum[]) => sums.some(({ used, min }) => used > min)
  return {
    quota,
    exceeded: exceeded === 'max' || exceeded === 'total' ? exceeded : '',
    takes: takes === 'borrowed' ? 'borrowed' : 'own',
    own,
    all,
    others: [...others]
      .map(([namespace, sums]) => ({ namespace, sums }))
      .sort((a, b) => Number(borrows(b.sums)) - Number(borrows(a.sums)) || a.namespace.localeCompare(b.namespace)),
  }
}

function readSum(resource: string, value: string): Sum | undefined {
  const [, used, nominated, requested, min, max] =
    /^used (-?\d+), nominated (-?\d+), requested (-?\d+), min (-?\d+)(?:, max (-?\d+))?$/.exec(value) ?? []
  if (used === undefined) return undefined
  return {
    resource,
    used: Number(used),
    nominated: Number(nominated),
    requested: Number(requested),
    min: Number(min),
    max: max === undefined ? undefined : Number(max),
  }
}

export const asked = ({ used, nominated, requested }: Sum) => used + nominated + requested

/**
 * The two rules of PreFilter for the resource that decides: the one that breaks the rule, else the
 * one that comes closest to its limit.
 */
export interface Rule {
  sum: Sum
  limit: number | undefined
  broken: boolean
}

export function rulesOf({ own, all }: QuotaFacts): { max: Rule | undefined; total: Rule | undefined } {
  const closest = (sums: readonly Sum[], limitOf: (sum: Sum) => number | undefined): Rule | undefined => {
    const rules = sums.map((sum): Rule & { share: number } => {
      const limit = limitOf(sum)
      return {
        sum,
        limit,
        broken: limit !== undefined && asked(sum) > limit,
        share: limit === undefined ? 0 : asked(sum) / Math.max(limit, 1),
      }
    })
    const [best] = rules.sort((a, b) => Number(b.broken) - Number(a.broken) || b.share - a.share)
    return best && { sum: best.sum, limit: best.limit, broken: best.broken }
  }
  return { max: closest(own, ({ max }) => max), total: closest(all, ({ min }) => min) }
}

/**
 * The newest attempt of each pod that a quota rejected, or that preempted in a namespace with a
 * quota; newest first.
 */
export function quotaDecisions(summaries: readonly Summary[], namespaces: ReadonlySet<string>, most = 30): Summary[] {
  const out = new Map<string, Summary>()
  for (const summary of summaries) {
    const key = `${summary.pod.namespace}/${summary.pod.name}`
    const about =
      summary.refusal?.plugin === quotaPlugin || (namespaces.has(summary.pod.namespace) && !!summary.nominatedNode)
    const known = out.get(key)
    // An attempt with a preemption tells more than the ones after it.
    if (about && (!known || (!known.nominatedNode && summary.nominatedNode))) out.set(key, summary)
    if (out.size >= most && !out.has(key)) break
  }
  return [...out.values()].slice(0, most)
}
