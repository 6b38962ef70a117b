// Sentences about entries of Karpenter's log.

import type { KarpenterEntry } from '@/api/types'
import { t } from '@/i18n'
import { price } from '@/i18n/money'
import { formatDuration } from '@/kubernetes/time'

/** Events of Karpenter's that have a sentence of ours. Others are shown by their reason. */
const reasons = [
  'ConsolidationApproved',
  'ConsolidationCandidate',
  'ConsolidationRejected',
  'DisruptionBlocked',
  'DisruptionLaunching',
  'DisruptionTerminating',
  'DisruptionWaitingReadiness',
  'Disrupted',
  'Evicted',
  'FailedDraining',
  'FailedScheduling',
  'InsufficientCapacityError',
  'NoCompatibleInstanceTypes',
  'Nominated',
  'Unconsolidatable',
] as const
type Reason = (typeof reasons)[number]
const known = (reason: string): reason is Reason => (reasons as readonly string[]).includes(reason)

export function entrySentence(entry: KarpenterEntry): string {
  const { kind, node = '', nodePool: pool = '', offer, object, reason = '', seconds = 0 } = entry
  const type = offer?.instanceType ?? ''
  const place = {
    type,
    zone: offer?.zone ?? '',
    capacityType: offer?.capacityType ?? '',
    price: price(offer?.pricePerHour ?? 0),
  }
  const name = object ? (object.namespace ? `${object.namespace}/${object.name}` : object.name) : ''
  const about = object ? `${object.kind} ${name}` : ''
  if (kind !== 'said') {
    return t(`autoscaling.live.entry.${kind}${kind === 'failed' && node ? 'Node' : ''}`, {
      node,
      pool,
      notice: formatDuration(seconds),
      about,
      reason,
      ...place,
    })
  }
  return known(reason)
    ? t(`autoscaling.live.reason.${reason}`, { about })
    : t('autoscaling.live.reasonOther', { about, reason })
}
