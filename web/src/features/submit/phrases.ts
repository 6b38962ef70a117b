// Sentences about an answer.

import type { SubmitAnswer, SubmitAnswers, SubmitChange } from '@/api/types'
import { t } from '@/i18n'
import { formatResource, parseQuantity } from '@/kubernetes/quantity'
import { formatClock } from '@/kubernetes/time'
import { caseOf, nodesOn, whenOf } from './model/submit'

const mostNodes = 4

export const listed = (parts: readonly string[]): string => parts.join(t('common.separator'))

export const amount = (resource: string, much: string): string =>
  `${formatResource(resource, parseQuantity(much))} ${resource}`

export const amounts = (of: Record<string, string>): string =>
  listed(
    Object.entries(of)
      .sort()
      .map(([resource, much]) => amount(resource, much))
  )

export function nodeNames(answer: SubmitAnswer): string {
  const names = nodesOn(answer)
  const rest = names.length - mostNodes
  return listed(rest > 0 ? [...names.slice(0, mostNodes), t('common.more', { n: rest })] : names)
}

export function sentence(answer: SubmitAnswer): string {
  const { fit, pods, needs } = answer.nodes
  const name = answer.subject.name
  return t(`submit.say.${caseOf(answer)}`, { name, nodes: nodeNames(answer), fit, pods, needs, left: pods - fit })
}

export const all = ({ summary }: SubmitAnswers): string => t('submit.say.many', { ...summary })

export function when(answer: SubmitAnswer): string {
  const { earliest, latest } = answer.start
  const clock = (at: string | null) => (at ? formatClock(at, false) : '')
  return t(`submit.when.${whenOf(answer)}`, { from: clock(earliest), to: clock(latest) })
}

export function change(one: SubmitChange): string {
  const s = one.suggestion
  if (one.kind === 'wait') return t('submit.change.wait')
  if (!s || one.kind === 'node') return one.text
  switch (one.kind) {
    case 'pods':
      return t('submit.change.pods', { n: s.count ?? 0 }, s.count ?? 0)
    case 'request':
      return t('submit.change.request', { amount: amount(s.resource ?? '', s.amount ?? '0') })
    case 'flavor':
      return t('submit.change.flavor', {
        flavor: s.flavor ?? '',
        what: listed([...(s.tolerations ?? []).map(({ key }) => key ?? ''), ...(s.selectors ?? [])]),
      })
    case 'queue':
      return t('submit.change.queue', { queue: s.localQueue ?? '' })
    case 'priority':
      return t('submit.change.priority', { priority: s.priority ?? 0 })
    case 'resume':
      return t('submit.change.resume', { queue: s.localQueue ?? s.clusterQueue ?? '' })
  }
}
