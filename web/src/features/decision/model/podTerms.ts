// Which pods a term of affinity or anti-affinity is about, and where pods are that match it.

import { line, type ComparisonLine } from './comparisonLine'
import type { Comparison } from './pluginComparison'

export type PodTerm = NonNullable<Comparison['podTerms']>[number]

/** The selector, and the namespaces unless an earlier version made the record. */
export function podTermOf(term: PodTerm): string | ComparisonLine {
  const selector = term.selectsNone ? line('selectsNone') : term.selector || line('selectsAll')
  const count = term.namespaceCount ?? 0
  if (!count && term.namespaceSelector === undefined) return selector
  return line('podTermOf', { selector, namespaces: namespacesOf(term, count) })
}

function namespacesOf({ namespaces = [], namespaceSelector }: PodTerm, count: number): ComparisonLine {
  const listed = namespaces.join(', ')
  const names = count > namespaces.length ? line('andMore', { listed, n: count - namespaces.length }) : listed
  if (namespaceSelector === '') return line('inAllNamespaces')
  if (namespaceSelector !== undefined)
    return count
      ? line('inBothNamespaces', { names, selector: namespaceSelector })
      : line('inSelectedNamespaces', { selector: namespaceSelector })
  return line(count === 1 ? 'inNamespace' : 'inNamespaces', { names })
}

const domainOf = ({ topologyKey }: PodTerm, domain: string | null) => `${topologyKey}=${domain ?? ''}`
const nameOf = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`
const podOn = (pod: NonNullable<PodTerm['pod']>, node: string | undefined): string | ComparisonLine =>
  node ? line('podOn', { pod: nameOf(pod), node }) : nameOf(pod)

/** A term for which the plugin rejected the node. */
export function unmetTerm(of: PodTerm): ComparisonLine {
  const term = podTermOf(of)
  const domain = domainOf(of, of.domain)
  if (of.rule === 'affinity') {
    if (of.domain === null) return line('affinityNoLabel', { term, key: of.topologyKey })
    return line('affinityUnmet', {
      term,
      domain,
      all: ofSeveral(of) && !(of.noneMatches && of.terms === 1) ? line('matchesAll', { n: of.terms ?? 0 }) : '',
      match: matchOf(of),
    })
  }
  if (of.rule === 'antiAffinity')
    return of.pod
      ? line('antiAffinityPod', { term, domain, pod: podOn(of.pod, of.podNode) })
      : line('antiAffinitySome', { term, domain })
  return of.pod
    ? line('existingPod', { term, domain, pod: podOn(of.pod, of.podNode) })
    : line('existingSome', { domain })
}

const ofSeveral = ({ terms = 1 }: PodTerm) => terms > 1

/** Where pods are that match affinity, if none in the domain does. */
function matchOf(of: PodTerm): ComparisonLine | '' {
  const { match } = of
  if (of.noneMatches) return line(ofSeveral(of) ? 'matchNoneOfThis' : 'matchNone')
  if (!match) return ''
  const values = { pod: nameOf(match.pod), node: match.node }
  if (!match.all) return line('matchPartly', values)
  return match.domain === null
    ? line('matchUnlabelled', { ...values, key: of.topologyKey })
    : line('matchElsewhere', { ...values, domain: domainOf(of, match.domain) })
}

/** A term for which the plugin let the node through. */
export function metTerm(of: PodTerm): ComparisonLine {
  const term = podTermOf(of)
  if (of.domain === null)
    return line(of.rule === 'affinity' ? 'affinityNoLabel' : 'podApart', { term, key: of.topologyKey })
  const values = { term, domain: domainOf(of, of.domain) }
  if (of.rule === 'antiAffinity') return line('podAntiAffinity', values)
  if (of.rule === 'existingAntiAffinity') return line('podExisting', { domain: values.domain })
  return of.first ? firstOf(of, values) : line('podAffinity', { ...values, pods: of.pods ?? 0 })
}

/** Why a pod may be the first of its group: the plugin counted none that matches all terms. */
function firstOf(of: PodTerm, values: ComparisonLine['values']): ComparisonLine {
  const { match } = of
  if (of.noneMatches) return line('podFirst', values)
  if (!match || (match.all && match.domain !== null)) return line('podFirstCounted', values)
  const seen = { ...values, pod: nameOf(match.pod), node: match.node }
  return match.all
    ? line('podFirstUnlabelled', { ...seen, key: of.topologyKey })
    : line('podFirstPartly', { ...seen, n: of.terms ?? 0 })
}
