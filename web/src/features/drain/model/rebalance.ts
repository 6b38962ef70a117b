// The question about the descheduler, and what its answer says.

import { isMap, isSeq, parseDocument } from 'yaml'
import type { Deschedule, DescheduleAnswer, DescheduleEviction, DescheduleNode, DescheduleUse } from '@/api/types'

export interface RebalanceForm {
  /** A DeschedulerPolicy, as text. */
  policy: string
  /** How often the descheduler runs; empty for once. */
  rounds: string
}

/** The question of a form; undefined without a policy. */
export function rebalanceOf({ policy, rounds }: RebalanceForm): Deschedule | undefined {
  if (!policy.trim()) return undefined
  const many = /^\d{1,2}$/.test(rounds.trim()) ? Number(rounds) : 1
  return { policy, ...(many > 1 ? { rounds: many } : {}) }
}

/** The command that asks the same. */
export const rebalanceCommand = ({ rounds }: Deschedule): string =>
  ['simulator deschedule --dry-run --policy policy.yaml', ...(rounds ? [`--rounds ${rounds}`] : [])].join(' ')

/** What carries it out: a scenario with the policy in it. */
export const rebalanceScenario = (policy: object, rounds = 1): object => ({
  apiVersion: 'kube-scheduler-simulator.sigs.k8s.io/v1alpha1',
  kind: 'Scenario',
  metadata: { name: 'deschedule' },
  steps: [{ name: 'deschedule', deschedule: { policy, rounds } }],
})

/** What became of an eviction, where landing on the node that was left is told apart. */
export const fateOf = ({ fate, to, node }: DescheduleEviction): DescheduleEviction['fate'] | 'back' =>
  fate === 'moves' && to === node ? 'back' : fate

/** The nodes whose use changes. */
export const changedNodes = ({ nodes }: Pick<DescheduleAnswer, 'nodes'>): DescheduleNode[] =>
  nodes.filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after))

/** A share of a node in whole percent, at most 100; undefined where the node has none. */
export const shareOf = (use: DescheduleUse, of: 'cpu' | 'memory'): number | undefined =>
  use[of] === undefined ? undefined : Math.min(100, Math.round(use[of]))

const policyOf = (name: string, point: string, args: string) => `apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: default
  pluginConfig:
  - name: DefaultEvictor
    args:
      nodeFit: true
  - name: ${name}
${args}  plugins:
    ${point}:
      enabled:
      - ${name}
`

/** Policies to begin with. */
export const examples = {
  duplicates: policyOf('RemoveDuplicates', 'balance', ''),
  relieve: policyOf(
    'LowNodeUtilization',
    'balance',
    `    args:
      thresholds: {cpu: 30, memory: 30}
      targetThresholds: {cpu: 60, memory: 60}
`
  ),
  pack: policyOf(
    'HighNodeUtilization',
    'balance',
    `    args:
      thresholds: {cpu: 30}
`
  ),
  spread: policyOf(
    'RemovePodsViolatingTopologySpreadConstraint',
    'balance',
    `    args:
      constraints: [DoNotSchedule, ScheduleAnyway]
`
  ),
} as const

/** A change of a policy that may do better. */
export interface Variant {
  /** nodeFit: the evictor leaves pods that fit on no other node. without: a plugin does not run. */
  by: 'nodeFit' | 'without'
  plugin: string
  policy: string
}

/** A variant and what it would do. */
export interface Tried extends Variant {
  answer: DescheduleAnswer
  /** Fewer evictions are in vain, and no pod more is without a node or gone. */
  better: boolean
}

/** Compares what a variant would do with what the policy itself would. */
export function tried(variant: Variant, answer: DescheduleAnswer, now: DescheduleAnswer): Tried {
  const [a, b] = [answer.summary, now.summary]
  const better =
    a.back + a.pending < b.back + b.pending && a.pending <= b.pending && a.gone <= b.gone && a.moved >= b.moved
  return { ...variant, answer, better }
}

/** The workload of an eviction: its controller, or the pod itself. */
const workloadOf = ({ owner, name }: DescheduleEviction): string => owner || name

/** The evictions that help none: the replacement lands where it was, or on no node. */
const isVain = (one: DescheduleEviction): boolean => ['back', 'pending'].includes(fateOf(one))

/** The changes worth asking about, at most three; none if no eviction is in vain. */
export function variantsOf(policy: string, { evictions }: Pick<DescheduleAnswer, 'evictions'>): Variant[] {
  const vain = new Set(evictions.filter((one) => isVain(one) && one.plugin).map(({ plugin = '' }) => plugin))
  if (!vain.size) return []
  const out: Variant[] = []
  const fit = withNodeFit(policy)
  if (fit) out.push({ by: 'nodeFit', plugin: 'DefaultEvictor', policy: fit })
  for (const plugin of vain) {
    const rest = withoutPlugin(policy, plugin)
    if (rest) out.push({ by: 'without', plugin, policy: rest })
  }
  return out.slice(0, 3)
}

function profilesOf(policy: string) {
  const document = parseDocument(policy)
  const profiles = document.get('profiles')
  return { document, profiles: isSeq(profiles) ? profiles.items.filter(isMap) : [] }
}

/** The policy whose evictor looks for room on other nodes; undefined if all of its profiles do that. */
function withNodeFit(policy: string): string | undefined {
  const { document, profiles } = profilesOf(policy)
  let changed = false
  for (const profile of profiles) {
    let configs = profile.get('pluginConfig')
    if (!isSeq(configs)) profile.set('pluginConfig', (configs = document.createNode([])))
    if (!isSeq(configs)) continue
    const own = configs.items.filter(isMap).find((one) => one.get('name') === 'DefaultEvictor')
    if (own?.getIn(['args', 'nodeFit']) === true) continue
    changed = true
    if (own) own.setIn(['args', 'nodeFit'], true)
    else configs.add(document.createNode({ name: 'DefaultEvictor', args: { nodeFit: true } }))
  }
  return changed ? document.toString() : undefined
}

/** The policy in which a plugin does not run; undefined if no other one is left. */
function withoutPlugin(policy: string, plugin: string): string | undefined {
  const { document, profiles } = profilesOf(policy)
  let left = 0
  for (const profile of profiles) {
    const configs = profile.get('pluginConfig')
    if (isSeq(configs)) configs.items = configs.items.filter((one) => !isMap(one) || one.get('name') !== plugin)
    for (const point of ['deschedule', 'balance']) {
      const enabled = profile.getIn(['plugins', point, 'enabled'])
      if (!isSeq(enabled)) continue
      enabled.items = enabled.items.filter((one) => String(one) !== plugin)
      left += enabled.items.length
    }
  }
  return left ? document.toString() : undefined
}

/** The workloads of which each round evicts a pod, if there are several; a policy that does that never comes to rest. */
export function everyRound({ evictions, rounds }: Pick<DescheduleAnswer, 'evictions' | 'rounds'>): string[] {
  if (rounds.length < 2) return []
  const seen = new Map<string, Set<number>>()
  for (const one of evictions) {
    if (one.preempted) continue
    const of = workloadOf(one)
    seen.set(of, (seen.get(of) ?? new Set()).add(one.round))
  }
  return [...seen].filter(([, in_]) => in_.size === rounds.length).map(([of]) => of)
}
