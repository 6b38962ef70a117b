// What the parts of the page say in the same way.

import type {
  AdmissionHead,
  AdmissionProblem,
  AdmissionReason,
  AdmissionSuggestion,
  PendingWorkload,
} from '@/api/types'
import { t } from '@/i18n'
import { formatResource, parseQuantity } from '@/kubernetes/quantity'
import { formatClock } from '@/kubernetes/time'
import { reasonText } from './model/reason'

export const why = (reason: AdmissionReason | undefined): string =>
  reasonText(reason, (key, named, n) => (n === undefined ? t(key, named) : t(key, named, n)))

/** Why it waits, and what goes first because its LocalQueue has used less. */
export const waits = ({ reason, usedMore }: PendingWorkload): string =>
  [why(reason), usedMore && reason.kind !== 'UsedMore' ? why({ kind: 'UsedMore', ...usedMore }) : '']
    .filter(Boolean)
    .join(' ')

export const problem = ({ kind, namespace, name, message, count, since, over }: AdmissionProblem): string =>
  t(
    over ? 'queues.problemOver' : 'queues.problem',
    { kind, name: namespace ? `${namespace}/${name}` : name, message, n: count, since: formatClock(since, false) },
    count
  )

export const outcome = ({ outcome }: AdmissionHead): string => t(`queues.outcome.${outcome}`)

const amount = (resource: string, much: string): string =>
  `${formatResource(resource, parseQuantity(much))} ${resource}`

const listed = (parts: readonly string[]): string => parts.join(t('common.separator'))

/** What the suggestion changes, so that the workload would be admitted. */
export function suggestion(one: AdmissionSuggestion): string {
  switch (one.kind) {
    case 'pods':
      return t('queues.suggest.pods', { set: one.podSet ?? '', n: one.count ?? 0 }, one.count ?? 0)
    case 'request':
      return t('queues.suggest.request', { amount: amount(one.resource ?? '', one.amount ?? '0') })
    case 'flavor':
      return t('queues.suggest.flavor', {
        flavor: one.flavor ?? '',
        what: listed([...(one.tolerations ?? []).map(({ key }) => key ?? ''), ...(one.selectors ?? [])]),
      })
    case 'queue':
      return t('queues.suggest.queue', { queue: one.localQueue ?? '' })
    case 'priority':
      return t('queues.suggest.priority', { priority: one.priority ?? 0 })
    case 'resume':
      return t('queues.suggest.resume', { queue: one.localQueue ?? one.clusterQueue ?? '' })
    case 'quota':
      return t('queues.suggestQuota', {
        flavor: one.flavor ?? '',
        queue: one.clusterQueue ?? '',
        amount: listed(Object.entries(one.quota ?? {}).map(([resource, much]) => amount(resource, much))),
      })
    case 'finish':
      return t('queues.suggestFinish', {
        name: listed([one.workload?.name ?? '', ...(one.others ?? []).map(({ name }) => name)]),
      })
  }
}
