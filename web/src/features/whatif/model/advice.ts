// The message for each statement of a suggestion, and the values for its placeholders. The
// server decides what helps; this module only chooses words.

import type { AdviceManner, AdviceOmission, AdviceStep, Suggestion } from '@/api/types'
import { amountOf } from '@/kubernetes/quantity'

export interface Phrase {
  key: string
  values: Record<string, string | number>
  /** Selects the plural form. */
  count?: number
}

/** A list of names as text. */
type Names = (names: readonly string[]) => string

/** What a step says, in one line each. A kind of the schema without a case does not compile. */
export function stepPhrases(step: AdviceStep, names: Names): Phrase[] {
  const s = step
  switch (s.kind) {
    case 'lowerRequests':
      return s.requests.map(({ resource, from, to }) => ({ key: to ? 'advice.lowerRequest' : 'advice.dropRequest', values: { resource, from: amountOf(resource, from), to: amountOf(resource, to) } }))
    case 'tolerate':
      return [{ key: 'advice.tolerate', values: { taints: names(s.taints) } }]
    case 'dropRequirements':
      return s.requirements.map(({ key, operator, values }): Phrase => (key ? { key: 'advice.dropRequirement', values: { requirement: [key, operator, ...(values.length ? [`[${values.join(', ')}]`] : [])].join(' ') } } : { key: 'advice.dropEmptyTerm', values: {} }))
    case 'acceptValue':
      return [{ key: 'advice.acceptValue', values: { label: `${s.key}=${s.value}` } }]
    case 'raiseMaxSkew':
      return [{ key: 'advice.raiseMaxSkew', values: { topologyKey: s.topologyKey, from: s.from, to: s.to } }]
    case 'preferSpread':
      return [{ key: 'advice.preferSpread', values: { topologyKey: s.topologyKey } }]
    case 'dropPodTerms':
      return s.terms.map(({ topologyKey, selector }) => ({ key: s.anti ? 'advice.dropAntiTerm' : 'advice.dropTerm', values: { topologyKey, selector } }))
    case 'dropHostPorts':
      return [{ key: 'advice.dropHostPorts', values: { ports: names(s.ports) } }]
    case 'openGates':
      return [{ key: 'advice.openGates', values: { gates: names(s.gates) } }]
    case 'uncordon':
      return [{ key: 'advice.uncordon', values: { node: s.node } }]
    case 'removeTaints':
      return [{ key: 'advice.removeTaints', values: { node: s.node, taints: names(s.taints) } }]
    case 'labelNode':
      return s.labels.map(({ key, to }) => (to === null ? { key: 'advice.unlabelNode', values: { node: s.node, label: key } } : { key: 'advice.labelNode', values: { node: s.node, label: `${key}=${to}` } }))
    case 'evict':
      return [{ key: 'advice.evict', values: { node: s.node, pods: names(s.pods.map((pod) => `${pod.namespace}/${pod.name}`)) } }]
    case 'addNode':
      return [{ key: 'advice.addNode', values: { like: s.like } }]
    default:
      return unknownKind(s)
  }
}

/** The other nodes for which the same step would do. */
export function othersOf(steps: readonly AdviceStep[]): readonly string[] {
  return steps.flatMap((step) => ('others' in step ? step.others : []))
}

/** The priorities of the pods that would be evicted. */
export function prioritiesOf(steps: readonly AdviceStep[]): number[] {
  return [...new Set(steps.flatMap((step) => (step.kind === 'evict' ? step.pods.map((pod) => pod.priority) : [])))].sort((a, b) => a - b)
}

/** What becomes of the pod. */
export function mannerPhrase(manner: AdviceManner): Phrase {
  const m = manner
  switch (m.kind) {
    case 'recreated':
      return { key: 'advice.recreated', values: { pod: m.pod } }
    case 'rolledOut':
      return { key: 'advice.rolledOut', values: { pod: m.pod, workload: `${m.workloadKind} ${m.name}` } }
    case 'restartedWorkload':
      return { key: 'advice.restartedWorkload', values: { pod: m.pod, workload: `${m.workloadKind} ${m.name}` } }
    default:
      return unknownKind(m)[0] as Phrase
  }
}

/** What the search left out, or could not know. */
export function omissionPhrase(omission: AdviceOmission): Phrase {
  const o = omission
  switch (o.kind) {
    case 'changesNotTried':
      return { key: 'advice.changesNotTried', values: { n: o.changes }, count: o.changes }
    case 'combinationsNotTried':
      return { key: 'advice.combinationsNotTried', values: { n: o.steps }, count: o.steps }
    case 'newNodesNotTried':
      return { key: 'advice.newNodesNotTried', values: { n: o.kinds }, count: o.kinds }
    case 'evictionsNotTried':
      return { key: 'advice.evictionsNotTried', values: { n: o.nodes }, count: o.nodes }
    case 'devicesShared':
    case 'devicesIncomplete':
      return { key: `advice.${o.kind}`, values: { like: o.like, driver: o.driver, pool: o.pool } }
    case 'storageNotReported':
    case 'localVolumes':
      return { key: `advice.${o.kind}`, values: { like: o.like, class: o.class } }
    case 'attachLimits':
      return { key: 'advice.attachLimits', values: { like: o.like } }
    default:
      return unknownKind(o)[0] as Phrase
  }
}

/** Only a server of another version sends a kind that the schema does not have. */
function unknownKind(statement: never): Phrase[] {
  return [{ key: 'explain.unknown', values: { kind: String((statement as { kind: unknown }).kind) } }]
}

/** What a suggestion disturbs, in the order in which the groups are shown. */
export const suggestionKinds = ['pod', 'node', 'addNode', 'evict'] as const

/** The suggestions with their ranks, in groups, each in the server's order: least disturbing first. */
export function groupSuggestions(suggestions: readonly Suggestion[]): { kind: Suggestion['kind']; items: { rank: number; suggestion: Suggestion }[] }[] {
  const ranked = suggestions.map((suggestion, i) => ({ rank: i + 1, suggestion }))
  return suggestionKinds.flatMap((kind) => {
    const items = ranked.filter(({ suggestion }) => suggestion.kind === kind)
    return items.length ? [{ kind, items }] : []
  })
}
