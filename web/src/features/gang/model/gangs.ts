// Pod groups with the state of each member, for both kinds of group: what the pods' objects
// and the newest attempts of the members say.

import type { KubeObject, Pod, Summary } from '@/api/types'
import { groupOf, groupText, type CoschedulingGroup, type GroupSystem, type NativeGroup } from '@/kubernetes/batch'
import { compareNames } from '@/kubernetes/cluster'
import { objectKey } from '@/kubernetes/object'
import { isFinished } from '@/kubernetes/pods'
import { finder } from '@/kubernetes/search'

/**
 * The state of a member. waiting: it has a node and waits at Permit. simulated: a node was
 * found for it, but the group did not get enough and none was kept. sentBack: it waited at
 * Permit and was rejected there. rejected: no node fits. held: rejected before any node was
 * checked. absent: the group needs this member, and there is no such pod.
 */
export type SlotState =
  'bound' | 'finished' | 'waiting' | 'simulated' | 'sentBack' | 'rejected' | 'held' | 'gated' | 'untried' | 'absent'
const slotOrder: readonly SlotState[] = [
  'bound',
  'finished',
  'waiting',
  'simulated',
  'sentBack',
  'rejected',
  'held',
  'gated',
  'untried',
  'absent',
]

export interface Member {
  pod: Pod
  key: string
  state: SlotState
  /** The newest attempt; undefined before the first. */
  summary: Summary | undefined
  /** The node that it has, waits on or was simulated on; ''. */
  node: string
}

/**
 * The state of a group. waiting: members wait at Permit for the others. tooFew: fewer pods
 * exist than the group needs. partly: it has enough members, and others have no node.
 */
export type GangState = 'running' | 'partly' | 'waiting' | 'rejected' | 'gated' | 'tooFew' | 'untried' | 'finished'

export interface Gang {
  /** The group in a URL. */
  id: string
  system: GroupSystem
  namespace: string
  name: string
  /** How many members must have a node before any may start; 0: no minimum. */
  least: number
  /** The label whose values members must share; '' without a topology constraint. */
  topologyKey: string
  /** How long a member waits at Permit (s); undefined: as long as the plugin's arguments say. */
  timeout: number | undefined
  state: GangState
  /** The phase or the reason of the condition that a controller wrote; ''. */
  phase: string
  /** The message of that condition; ''. */
  message: string
  /** By name. */
  members: readonly Member[]
  /** The members' states in the order of the slots, and the absent ones. */
  slots: readonly SlotState[]
  /**
   * Members with a node: bound, finished or waiting at Permit. A simulated node counts for the
   * groups of Kubernetes.
   */
  placed: number
}

/** The newest attempts by pod uid. */
export type Newest = ReadonlyMap<string, Summary>

/** Summaries come newest first. */
export function newestByPod(summaries: readonly Summary[]): Newest {
  const out = new Map<string, Summary>()
  for (const summary of summaries) if (!out.has(summary.pod.uid)) out.set(summary.pod.uid, summary)
  return out
}

export function memberOf(pod: Pod, summary: Summary | undefined, system: GroupSystem): Member {
  const state = slotOf(pod, summary, system)
  const tried = state === 'waiting' || state === 'simulated' ? (summary?.selectedNode ?? '') : ''
  return { pod, key: objectKey(pod), state, summary, node: pod.spec?.nodeName ?? tried }
}

function slotOf(pod: Pod, summary: Summary | undefined, system: GroupSystem): SlotState {
  if (isFinished(pod)) return 'finished'
  if (pod.spec?.nodeName) return 'bound'
  if (pod.spec?.schedulingGates?.length) return 'gated'
  if (!summary) return 'untried'
  // Scheduled, and the bind has not reached the watch yet.
  if (summary.outcome === 'scheduled' || summary.outcome === 'waiting') return 'waiting'
  const at = summary.refusal?.extensionPoint
  if (system === 'native' && !summary.refusal) return summary.selectedNode ? 'simulated' : 'untried'
  if (summary.selectedNode) return 'sentBack'
  return at === 'preFilter' ? 'held' : 'rejected'
}

/**
 * The groups of the cluster, those that need attention first, then by name. A group that pods name
 * need not exist.
 */
export function gangsOf(
  groups: { coscheduling: Iterable<KubeObject>; native: Iterable<KubeObject> },
  pods: Iterable<Pod>,
  newest: Newest
): Gang[] {
  const members = new Map<string, Member[]>()
  for (const pod of pods) {
    const of = groupOf(pod)
    if (!of) continue
    const id = groupText(of)
    const list = members.get(id)
    const member = memberOf(pod, newest.get(pod.metadata.uid ?? ''), of.system)
    if (list) list.push(member)
    else members.set(id, [member])
  }
  const all: Gang[] = []
  for (const object of groups.coscheduling as Iterable<CoschedulingGroup>) {
    const { minMember = 0, scheduleTimeoutSeconds } = object.spec ?? {}
    all.push(
      gangOf('coscheduling', object, members, {
        least: minMember,
        timeout: scheduleTimeoutSeconds || undefined,
        topologyKey: '',
        phase: object.status?.phase ?? '',
        message: '',
      })
    )
  }
  for (const object of groups.native as Iterable<NativeGroup>) {
    const condition =
      object.status?.conditions?.find(({ type }) => type === 'PodGroupInitiallyScheduled') ??
      object.status?.conditions?.[0]
    all.push(
      gangOf('native', object, members, {
        least: object.spec?.schedulingPolicy?.gang?.minCount ?? 0,
        timeout: undefined,
        topologyKey: object.spec?.schedulingConstraints?.topology?.[0]?.key ?? '',
        phase: condition?.reason ?? '',
        message: condition?.message ?? '',
      })
    )
  }
  return all.sort(
    (a, b) => attention(a) - attention(b) || compareNames(a.name, b.name) || compareNames(a.namespace, b.namespace)
  )
}

const urgent: readonly GangState[] = [
  'waiting',
  'rejected',
  'tooFew',
  'gated',
  'untried',
  'partly',
  'running',
  'finished',
]
const attention = (gang: Gang) => urgent.indexOf(gang.state)

function gangOf(
  system: GroupSystem,
  object: KubeObject,
  of: ReadonlyMap<string, Member[]>,
  rest: Pick<Gang, 'least' | 'timeout' | 'topologyKey' | 'phase' | 'message'>
): Gang {
  const { namespace = '', name } = object.metadata
  const id = groupText({ system, namespace, name })
  const members = [...(of.get(id) ?? [])].sort((a, b) => compareNames(a.pod.metadata.name, b.pod.metadata.name))
  const absent = Math.max(0, rest.least - members.length)
  const slots = [
    ...members.map(({ state }) => state).sort((a, b) => slotOrder.indexOf(a) - slotOrder.indexOf(b)),
    ...Array.from({ length: absent }, () => 'absent' as const),
  ]
  const count = (...states: SlotState[]) => members.filter(({ state }) => states.includes(state)).length
  const placed = count('bound', 'finished', 'waiting', 'simulated')
  return { id, system, namespace, name, ...rest, members, slots, placed, state: stateOf(members, rest.least, count) }
}

function stateOf(members: readonly Member[], least: number, count: (...states: SlotState[]) => number): GangState {
  const placed = count('bound', 'finished')
  if (members.length && count('finished') === members.length) return 'finished'
  if (placed && placed >= least) return placed === members.length ? 'running' : 'partly'
  if (count('waiting')) return 'waiting'
  if (members.length < least || !members.length) return 'tooFew'
  if (count('gated') > members.length - Math.max(least, 1)) return 'gated'
  return count('rejected', 'sentBack', 'held', 'simulated') ? 'rejected' : 'untried'
}

/** The attempt that tells most about why a group does not start. noNode: the member fits no node. */
export interface Blocked {
  member: Member
  summary: Summary
  noNode: boolean
}

/**
 * The newest attempt of a member without a node that fits none, because of which the others
 * wait or were sent back; else the newest one that was rejected elsewhere. A member that was
 * sent back itself may have been the one that fit no node before. Summaries come newest first.
 */
export function blockedBy(gang: Gang, summaries: readonly Summary[]): Blocked | undefined {
  const without = new Map(
    gang.members
      .filter(({ state }) => ['rejected', 'held', 'sentBack', 'simulated'].includes(state))
      .map((member) => [member.pod.metadata.uid ?? '', member])
  )
  if (!without.size) return undefined
  let other: Blocked | undefined
  for (const summary of summaries) {
    const member = without.get(summary.pod.uid)
    if (!member || !summary.refusal || summary.outcome !== 'unschedulable') continue
    if (!summary.selectedNode && summary.refusal.extensionPoint === 'filter') return { member, summary, noNode: true }
    other ??= { member, summary, noNode: false }
    // A group that is rejected before any node is checked need not have been tried on nodes since.
    if (member.state === 'held') return other
  }
  return other
}

/** The waiting member that got to Permit first; its timeout ends the wait of all. */
export function firstToWait(gang: Gang): Member | undefined {
  return gang.members
    .filter(({ state, summary }) => state === 'waiting' && summary?.outcome === 'waiting')
    .sort((a, b) => (a.summary?.startTime ?? '').localeCompare(b.summary?.startTime ?? ''))[0]
}

/** Where a member's newest attempt got to. undone: reserved, and released again. */
export const gangStages = ['preFilter', 'filter', 'postFilter', 'reserve', 'permit'] as const
export type GangStage = (typeof gangStages)[number]
export type StageState = 'passed' | 'rejected' | 'waiting' | 'undone' | 'notRun'

export function stagesOf({ state, summary }: Member): Record<GangStage, StageState> {
  const none = {
    preFilter: 'notRun',
    filter: 'notRun',
    postFilter: 'notRun',
    reserve: 'notRun',
    permit: 'notRun',
  } as const
  if (!summary) return none
  const placed = { ...none, preFilter: 'passed', filter: 'passed', reserve: 'passed', permit: 'passed' } as const
  if (summary.outcome === 'scheduled') return placed
  if (summary.outcome === 'waiting') return { ...placed, permit: 'waiting' }
  if (state === 'simulated') return { ...placed, reserve: 'undone', permit: 'notRun' }
  const at = summary.refusal?.extensionPoint
  const postFilter = summary.nominatedNode ? 'passed' : 'rejected'
  if (at === 'preFilter') return { ...none, preFilter: 'rejected', postFilter }
  if (at === 'filter') return { ...none, preFilter: 'passed', filter: 'rejected', postFilter }
  if (at === 'reserve') return { ...placed, reserve: 'rejected', permit: 'notRun' }
  if (at === 'permit') return { ...placed, reserve: 'undone', permit: 'rejected' }
  return none
}

/** The groups that a text finds: all of its words in the name, the namespace or the state. */
export function filterGangs(gangs: readonly Gang[], text: string): Gang[] {
  const found = finder(text)
  return gangs.filter(({ namespace, name, state, phase }) => !found || found(`${namespace}/${name} ${state} ${phase}`))
}
