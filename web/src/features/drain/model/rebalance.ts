// The question about the descheduler, and what its answer says.

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
