// The message for each statement of a suggestion, and the values for its placeholders. The
// server decides what helps; this module only chooses words.

import type { AdviceManner, AdviceOmission, AdviceStep, Suggestion } from '@/api/types'
import { amountOf } from '@/kubernetes/quantity'
import { formatClock } from '@/kubernetes/time'

export interface Phrase {
  key: string
  values: Record<string, string | number>
  /** Selects the plural form. */
  count?: number
}

type Names = (names: readonly string[]) => string

/** What a step says, in one line each. A kind of the schema without a case does not compile. */
export function stepPhrases(step: AdviceStep, names: Names): Phrase[] {
  const s = step
  switch (s.kind) {
    case 'wait':
      return waitPhrases(s, names)
    case 'lowerRequests':
      return s.requests.map((cut) => cutPhrase(cut))
    case 'tolerate':
      return [{ key: 'advice.tolerate', values: { taints: names(s.taints) } }]
    case 'dropRequirements':
      return s.requirements.map(({ key, operator, values }): Phrase =>
        key
          ? {
              key: 'advice.dropRequirement',
              values: { requirement: [key, operator, ...(values.length ? [`[${values.join(', ')}]`] : [])].join(' ') },
            }
          : { key: 'advice.dropEmptyTerm', values: {} }
      )
    case 'acceptValue':
      return [{ key: 'advice.acceptValue', values: { label: `${s.key}=${s.value}` } }]
    case 'raiseMaxSkew':
      return [{ key: 'advice.raiseMaxSkew', values: { topologyKey: s.topologyKey, from: s.from, to: s.to } }]
    case 'honorPolicy':
      return [{ key: 'advice.honorPolicy', values: { topologyKey: s.topologyKey, policy: s.policy } }]
    case 'lowerMinDomains':
      return [
        {
          key: s.to ? 'advice.lowerMinDomains' : 'advice.dropMinDomains',
          values: { topologyKey: s.topologyKey, from: s.from, to: s.to },
        },
      ]
    case 'preferSpread':
      return [{ key: 'advice.preferSpread', values: { topologyKey: s.topologyKey } }]
    case 'preferPodTerms':
      return s.terms.flatMap((term) => [
        { key: s.anti ? 'advice.preferAntiTerm' : 'advice.preferTerm', values: termValues(term) },
        ...wherePhrases(term, names),
      ])
    case 'dropPodTerms':
      return s.terms.flatMap((term) => [
        { key: s.anti ? 'advice.dropAntiTerm' : 'advice.dropTerm', values: termValues(term) },
        ...wherePhrases(term, names),
      ])
    case 'changeStorageClass':
      return [{ key: 'advice.changeStorageClass', values: { claim: s.claim, from: s.from, to: s.to } }]
    case 'raisePriority':
      return [
        {
          key: 'advice.raisePriority',
          values: { class: s.class, to: s.to, node: s.node, pods: podNames(s.pods, names) },
        },
        ...replacementPhrases(s.pods, names),
      ]
    case 'takeBackResize':
      return [
        { key: 'advice.takeBackResize', values: { pod: `${s.namespace}/${s.name}`, node: s.node } },
        ...s.requests.map((cut) => cutPhrase(cut)),
      ]
    case 'scaleDown':
      return [{ key: 'advice.scaleDown', values: { workload: `${s.workloadKind} ${s.name}`, from: s.from, to: s.to } }]
    case 'dropHostPorts':
      return [{ key: 'advice.dropHostPorts', values: { ports: names(s.ports) } }]
    case 'openGates':
      return [{ key: 'advice.openGates', values: { gates: names(s.gates) } }]
    case 'uncordon':
      return [{ key: 'advice.uncordon', values: { node: s.node } }]
    case 'removeTaints':
      return [{ key: 'advice.removeTaints', values: { node: s.node, taints: names(s.taints) } }]
    case 'labelNode':
      return s.labels.map(({ key, to }) =>
        to === null
          ? { key: 'advice.unlabelNode', values: { node: s.node, label: key } }
          : { key: 'advice.labelNode', values: { node: s.node, label: `${key}=${to}` } }
      )
    case 'evict':
      return [
        { key: 'advice.evict', values: { node: s.node, pods: podNames(s.pods, names) } },
        ...replacementPhrases(s.pods, names),
      ]
    case 'addNode':
      return [
        s.more?.length
          ? {
              key: 'advice.addNodes',
              values: { n: 1 + s.more.length, like: s.like, nodes: names([s.name, ...s.more]) },
            }
          : { key: 'advice.addNode', values: { like: s.like } },
      ]
    default:
      return unknownKind(s)
  }
}

type StepOf<K extends AdviceStep['kind']> = Extract<AdviceStep, { kind: K }>
type EvictedPod = StepOf<'evict'>['pods'][number]
type Term = StepOf<'dropPodTerms'>['terms'][number]

const podNames = (all: readonly { namespace: string; name: string }[], names: Names) =>
  names(all.map(({ namespace, name }) => `${namespace}/${name}`))

function cutPhrase({
  resource,
  container,
  init,
  sidecar,
  from,
  to,
}: StepOf<'lowerRequests'>['requests'][number]): Phrase {
  const of = !container ? 'Pod' : sidecar ? 'Sidecar' : init ? 'Init' : ''
  return {
    key: `advice.${to ? 'lower' : 'drop'}${of}Request`,
    values: { resource, container, from: amountOf(resource, from), to: amountOf(resource, to) },
  }
}

/** What the pod waits for, and how long at most. */
function waitPhrases(wait: StepOf<'wait'>, names: Names): Phrase[] {
  const until: Phrase[] = wait.until
    ? [{ key: 'advice.waitUntil', values: { time: formatClock(wait.until, false) } }]
    : []
  if (wait.queue)
    return [{ key: wait.queue === 'backoff' ? 'advice.waitBackoff' : 'advice.waitAttempt', values: {} }, ...until]
  if (wait.preempts) return [{ key: 'advice.waitPreempts', values: {} }]
  return [
    { key: 'advice.wait', values: {} },
    ...(wait.terminating.length
      ? [
          {
            key: 'advice.waitTerminating',
            values: { pods: podNames(wait.terminating, names) },
            count: wait.terminating.length,
          },
        ]
      : []),
    ...wait.nominated.map(({ namespace, name, node }) => ({
      key: 'advice.waitNominated',
      values: { pod: `${namespace}/${name}`, node },
    })),
    ...(wait.detaching ?? []).map((values) => ({ key: 'advice.waitDetaching', values: { ...values } })),
    ...(wait.group
      ? [
          {
            key: 'advice.waitGroup',
            values: { group: `${wait.group.namespace}/${wait.group.name}`, n: wait.group.missing },
            count: wait.group.missing,
          },
        ]
      : []),
    ...until,
  ]
}

const termValues = ({ topologyKey, selector }: Term) => ({ topologyKey, selector: selector || '*' })

/** The namespaces of a term that is not about the pod’s own. */
function wherePhrases({ namespaces, namespaceSelector }: Term, names: Names): Phrase[] {
  return [
    ...(namespaces?.length ? [{ key: 'advice.termNamespaces', values: { namespaces: names(namespaces) } }] : []),
    ...(namespaceSelector === undefined
      ? []
      : [
          namespaceSelector
            ? { key: 'advice.termNamespaceSelector', values: { selector: namespaceSelector } }
            : { key: 'advice.termAllNamespaces', values: {} },
        ]),
  ]
}

/** What becomes of the pods that controllers make in place of those that are evicted. */
function replacementPhrases(pods: readonly EvictedPod[], names: Names): Phrase[] {
  const made = pods.flatMap(({ replacement }) => replacement ?? [])
  const waiting = made.filter(({ node }) => !node).length
  if (!made.length) return []
  if (!waiting)
    return [
      { key: 'advice.replacementsGo', values: { nodes: names(made.map(({ node }) => node)) }, count: made.length },
    ]
  if (waiting === made.length) return [{ key: 'advice.replacementsWait', values: { n: waiting }, count: waiting }]
  return [{ key: 'advice.replacementsPart', values: { made: made.length, n: waiting }, count: waiting }]
}

/** The other nodes for which the same step would do. */
export function othersOf(steps: readonly AdviceStep[]): readonly string[] {
  return steps.flatMap((step) => ('others' in step ? step.others : []))
}

/** The priorities of the pods that would be evicted. */
export function prioritiesOf(steps: readonly AdviceStep[]): number[] {
  return [
    ...new Set(
      steps.flatMap((step) =>
        step.kind === 'evict' || step.kind === 'raisePriority' ? step.pods.map((pod) => pod.priority) : []
      )
    ),
  ].sort((a, b) => a - b)
}

export function mannerPhrase(manner: AdviceManner): Phrase {
  const m = manner
  switch (m.kind) {
    case 'leaves':
      return { key: 'advice.leaves', values: { n: m.pods, workload: `${m.workloadKind} ${m.name}` }, count: m.pods }
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
    case 'rolloutNotTried':
      return { key: 'advice.rolloutNotTried', values: { n: o.pods } }
    case 'noNodesToTry':
      return { key: 'advice.noNodesToTry', values: {} }
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

export interface SuggestionGroup {
  kind: Suggestion['kind']
  items: { rank: number; suggestion: Suggestion }[]
}

/**
 * The suggestions with their ranks, in the server's order: least disturbing first. Neighbours of
 * one kind are a group.
 */
export function groupSuggestions(suggestions: readonly Suggestion[]): SuggestionGroup[] {
  const groups: SuggestionGroup[] = []
  for (const [i, suggestion] of suggestions.entries()) {
    const item = { rank: i + 1, suggestion }
    const last = groups.at(-1)
    if (last?.kind === suggestion.kind) last.items.push(item)
    else groups.push({ kind: suggestion.kind, items: [item] })
  }
  return groups
}
