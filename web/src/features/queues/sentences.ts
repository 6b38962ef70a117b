// What the parts of the page say in the same way.

import type { AdmissionHead, AdmissionProblem, AdmissionReason, PendingWorkload } from '@/api/types'
import { t } from '@/i18n'
import { formatClock } from '@/kubernetes/time'
import { reasonText } from './model/reason'

export const why = (reason: AdmissionReason | undefined): string =>
  reasonText(reason, (key, named, n) => (n === undefined ? t(key, named) : t(key, named, n)))

export const waits = ({ reason }: PendingWorkload): string => why(reason)

export const problem = ({ kind, namespace, name, message, count, since, over }: AdmissionProblem): string =>
  t(
    over ? 'queues.problemOver' : 'queues.problem',
    { kind, name: namespace ? `${namespace}/${name}` : name, message, n: count, since: formatClock(since, false) },
    count
  )

export const outcome = ({ outcome }: AdmissionHead): string => t(`queues.outcome.${outcome}`)
