// What the parts of the page say in the same way.

import { useI18n } from 'vue-i18n'
import type { AdmissionHead, AdmissionProblem, AdmissionReason, PendingWorkload } from '@/api/types'
import { formatClock } from '@/kubernetes/time'
import { reasonText } from './model/reason'

export function useWords() {
  const { t } = useI18n()
  const why = (reason: AdmissionReason | undefined): string =>
    reasonText(reason, (key, named, n) => (n === undefined ? t(key, named) : t(key, named, n)))
  return {
    why,
    waits: ({ reason }: PendingWorkload): string => why(reason),
    problem: ({ kind, namespace, name, message, count, since, over }: AdmissionProblem): string =>
      t(
        over ? 'queues.problemOver' : 'queues.problem',
        { kind, name: namespace ? `${namespace}/${name}` : name, message, n: count, since: formatClock(since, false) },
        count
      ),
    outcome: ({ outcome }: AdmissionHead): string => t(`queues.outcome.${outcome}`),
  }
}
