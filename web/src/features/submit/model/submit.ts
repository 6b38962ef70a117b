// What the page Before you submit makes of an answer.

import type { SubmitAnswer, SubmitAnswers, SubmitQuota, SubmitRoom, SubmitStart } from '@/api/types'
import { parseQuantity } from '@/kubernetes/quantity'

export type Tone = 'good' | 'await' | 'bad'

/** Whether it starts at once, later, or never. A job that is admitted and finds no nodes does not start. */
export function toneOf({ verdict, nodes }: Pick<SubmitAnswer, 'verdict' | 'nodes'>): Tone {
  if (verdict === 'never') return 'bad'
  return verdict === 'admitted' && nodes.fit >= nodes.needs ? 'good' : 'await'
}

export const nodesTone = ({ nodes }: Pick<SubmitAnswer, 'nodes'>): Tone =>
  nodes.fit >= nodes.needs ? 'good' : nodes.never || nodes.fit === 0 ? 'bad' : 'await'

/** What a short answer says: both halves, or one of them. */
export type Case = 'starts' | 'noNode' | 'waits' | 'waitsNoNode' | 'never' | 'noQueue' | 'noRoom' | 'noRoomEver'

export function caseOf({ verdict, quota, nodes }: Pick<SubmitAnswer, 'verdict' | 'quota' | 'nodes'>): Case {
  const fits = nodes.fit >= nodes.needs
  if (!quota) return fits ? 'noQueue' : verdict === 'never' ? 'noRoomEver' : 'noRoom'
  if (verdict === 'never') return 'never'
  if (verdict === 'waits') return fits ? 'waits' : 'waitsNoNode'
  return fits ? 'starts' : 'noNode'
}

export type When = 'now' | 'never' | 'unknown' | 'after' | 'between'

export function whenOf({ verdict, start }: Pick<SubmitAnswer, 'verdict' | 'start'>): When {
  if (start.now) return 'now'
  if (verdict === 'never') return 'never'
  if (!start.earliest) return 'unknown'
  return start.latest ? 'between' : 'after'
}

/** The distinct nodes, in order. */
export const nodesOn = ({ nodes }: Pick<SubmitAnswer, 'nodes'>): string[] => [...new Set(nodes.on)].sort()

/** The distinct flavors of the pod sets. */
export const flavorsOf = ({ quota }: Pick<SubmitAnswer, 'quota'>): string[] => [
  ...new Set((quota?.podSets ?? []).flatMap(({ flavors }) => Object.values(flavors))),
]

/** The flavors whose numbers are known. */
export const flavorsTried = ({ resources }: SubmitQuota): string[] => [
  ...new Set(resources.map(({ flavor }) => flavor)),
]

export const shortOf = ({ resources }: SubmitQuota): SubmitRoom[] => resources.filter(({ short }) => short !== '0')

/** The room that lacks the most, or has the least left. */
export function tightestOf({ resources }: SubmitQuota): SubmitRoom | undefined {
  const share = ({ asks, short, capacity }: SubmitRoom) =>
    parseQuantity(short) / Math.max(1e-9, parseQuantity(asks)) +
    parseQuantity(asks) / Math.max(1e-9, parseQuantity(capacity))
  return [...resources].sort((a, b) => share(b) - share(a))[0]
}

/** The plugins for whose rejections there are words. */
export const explainedPlugins = [
  'NodeResourcesFit',
  'NodeAffinity',
  'TaintToleration',
  'NodeUnschedulable',
  'NodeName',
  'NodePorts',
  'PodTopologySpread',
  'InterPodAffinity',
  'VolumeBinding',
  'VolumeZone',
  'VolumeRestrictions',
  'NodeVolumeLimits',
  'DynamicResources',
] as const

export interface Stretch {
  from: number
  width: number
}

/** Where the starts lie between now and the last of them, in percent; nothing for a start that is not known. */
export function stretchOf(start: SubmitStart, now: number, end: number): Stretch | undefined {
  if (!start.earliest || end <= now) return undefined
  const at = (time: string) => Math.min(100, Math.max(0, ((Date.parse(time) - now) / (end - now)) * 100))
  const from = at(start.earliest)
  const to = start.latest ? at(start.latest) : 100
  return { from, width: Math.max(1, to - from) }
}

/** The end of the axis: the latest start of all. */
export function endOf({ items }: Pick<SubmitAnswers, 'items'>): number {
  return Math.max(0, ...items.map(({ start }) => Date.parse(start.latest ?? start.earliest ?? '') || 0))
}

export const sampleJob = `apiVersion: batch/v1
kind: Job
metadata:
  name: train-12
  namespace: default
  labels:
    kueue.x-k8s.io/queue-name: default
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example.com/train:1
          resources:
            requests:
              cpu: "2"
`
