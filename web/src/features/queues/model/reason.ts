// The reasons of admission as texts: one sentence each.

import type { AdmissionReason } from '@/api/types'

/** Translates; `n` chooses the plural. */
export type Translate = (key: string, named: Record<string, unknown>, n?: number) => string

const kinds = [
  'ResourceUnavailable',
  'FlavorMissing',
  'UntoleratedTaint',
  'AffinityMismatch',
  'OverCapacity',
  'ShortOfQuota',
  'TopologyUnsupported',
  'TopologyLevelMissing',
  'TopologyOnly',
  'TopologyShort',
  'TopologyRequestInvalid',
  'OtherFlavorHeld',
  'ClaimsUnsupported',
  'DevicesUncounted',
  'PreemptionPending',
  'LostQuota',
  'VictimsShared',
  'LocalQueueMissing',
  'LocalQueueStopped',
  'LocalQueueInactive',
  'ClusterQueueMissing',
  'ClusterQueueInactive',
  'ClusterQueueStopped',
  'NamespaceMismatch',
  'RequestsAboveLimits',
  'OutsideLimitRange',
  'ChecksFailed',
  'PodsNotReady',
  'Gated',
  'Deactivated',
  'BackedOff',
  'NotRequeued',
  'PodsAwaited',
  'NotTried',
  'BehindHead',
  'UsedMore',
] as const

/** The kinds that have a text of their own; `NoFlavors` and `EqualRefused` are made of others, and `Reported` is Kueue's. */
export const reasonKinds: readonly string[] = kinds

interface Usage {
  namespace: string
  name: string
  usage: number
  infinite?: boolean
}

/** What a LocalQueue has used, to six digits after the point as the API says it. */
export const usageText = ({ usage, infinite }: Usage): string =>
  infinite ? '∞' : String(Math.round(usage * 1e6) / 1e6)

interface PodSetReasons {
  podSet: string
  reasons: AdmissionReason[]
}

/** The sentence of a reason. A kind that this page does not know is shown by its name. */
export function reasonText(reason: AdmissionReason | undefined, t: Translate): string {
  if (!reason) return ''
  if (reason.kind === 'NoFlavors') {
    const sets = (reason.podSets ?? []) as PodSetReasons[]
    const all = [...new Set(sets.flatMap(({ reasons }) => reasons.map((one) => reasonText(one, t))))]
    return all.join(' ')
  }
  if (reason.kind === 'EqualRefused') {
    const { name } = reason.equal as { name: string }
    return t('queues.reason.EqualRefused', { name, why: reasonText(reason.reason as AdmissionReason | undefined, t) })
  }
  if (reason.kind === 'UsedMore') {
    const { first, used, firstUsed } = reason as unknown as { first: { name: string }; used: Usage; firstUsed: Usage }
    return t('queues.reason.UsedMore', {
      queue: used.name,
      used: usageText(used),
      first: first.name,
      firstQueue: firstUsed.name,
      firstUsed: usageText(firstUsed),
    })
  }
  if (reason.kind === 'Reported') return typeof reason.message === 'string' ? reason.message : ''
  if (!reasonKinds.includes(reason.kind)) return reason.kind
  const named = Object.fromEntries(
    Object.entries(reason).map(([key, value]) => {
      if (Array.isArray(value)) return [key, value.map(String).join(', ')]
      if (value && typeof value === 'object' && 'name' in value) return [key, String(value.name)]
      return [key, value]
    })
  )
  if (reason.kind === 'TopologyShort' && reason.empty) return t('queues.topologyEmpty', named)
  if (reason.kind === 'ShortOfQuota' && reason.overdrawn) return t('queues.overdrawn', named)
  return t(`queues.reason.${reason.kind}`, named, typeof reason.victims === 'number' ? reason.victims : undefined)
}
