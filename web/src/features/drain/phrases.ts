// Sentences about a drain.

import type { DrainAnswer, DrainBudget, DrainEviction, DrainNode } from '@/api/types'
import { t } from '@/i18n'
import { formatDuration } from '@/kubernetes/time'

export const listed = (parts: readonly string[]): string => parts.join(t('common.separator'))

/** A time since the drain begins, as 2:46 or 1:02:46. */
export function clock(seconds: number): string {
  const two = (n: number) => String(n).padStart(2, '0')
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

export function sentence({ summary, nodes }: Pick<DrainAnswer, 'summary' | 'nodes'>): string {
  const left = nodes.filter(({ outcome }) => outcome !== 'emptied').map(({ name }) => name)
  const parts = [
    left.length
      ? t('drain.say.some', { n: summary.empty, of: summary.nodes, left: listed(left) }, summary.nodes)
      : t('drain.say.all', { n: summary.nodes, time: formatDuration(summary.seconds ?? 0) }, summary.nodes),
  ]
  if (summary.pending) parts.push(t('drain.say.pending', { n: summary.pending }, summary.pending))
  if (summary.gone) parts.push(t('drain.say.gone', { n: summary.gone }, summary.gone))
  return parts.join(t('common.sentenceGap'))
}

export const outcome = ({ outcome: of, ends }: DrainNode): string =>
  t(`drain.outcome.${of}`, { time: clock(ends ?? 0) })

export function becomes({ fate, to = '', ready = 0, budget = '', error = '' }: DrainEviction): string {
  if (fate === 'blocked') return t(budget ? 'drain.fate.blockedBy' : 'drain.fate.blocked', { budget, error })
  return t(`drain.fate.${fate}`, { node: to, time: clock(ready) })
}

export const budgetSays = ({ desired, expected, allowed }: DrainBudget): string =>
  t('drain.budgetSays', { desired, expected, allowed })
