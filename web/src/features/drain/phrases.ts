// Sentences about a drain.

import type {
  DescheduleAnswer,
  DescheduleEviction,
  DescheduleRefused,
  DrainAnswer,
  DrainBudget,
  DrainEviction,
  DrainNode,
} from '@/api/types'
import { t } from '@/i18n'
import { formatCount } from '@/i18n/numbers'
import { formatDuration } from '@/kubernetes/time'
import { fateOf } from './model/rebalance'

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

export function rebalanceSentence({ summary, rounds }: Pick<DescheduleAnswer, 'summary' | 'rounds'>): string {
  if (rounds[0]?.skipped) return t('drain.rebalance.say.skipped')
  if (!summary.evicted && !summary.refused) return t('drain.rebalance.say.nothing')
  const fates = (['moved', 'back', 'pending', 'gone', 'ended'] as const)
    .filter((of) => summary[of])
    .map((of) => t(`drain.rebalance.say.${of}`, { n: summary[of] }, summary[of]))
  const evicted = t('drain.rebalance.say.evicted', { n: summary.evicted }, summary.evicted)
  const parts = [fates.length ? t('drain.rebalance.say.with', { evicted, fates: listed(fates) }) : evicted]
  if (summary.refused) parts.push(t('drain.rebalance.say.refused', { n: summary.refused }, summary.refused))
  if (summary.emptied) parts.push(t('drain.rebalance.say.emptied', { n: summary.emptied }, summary.emptied))
  return parts.map((part) => t('drain.rebalance.say.stop', { part })).join(t('common.sentenceGap'))
}

/** What becomes of the pod of an eviction. */
export const landing = (eviction: DescheduleEviction): string =>
  t(`drain.rebalance.fate.${fateOf(eviction)}`, { node: eviction.to ?? '', pod: eviction.behind ?? '' })

/** Why a replacement lands where it was; empty where that is not known. */
export function cameBack({ choice, node }: DescheduleEviction): string {
  if (!choice) return ''
  const { feasible, evaluated, over, margin = 0, parts = [] } = choice
  if (feasible === 1) return t('drain.rebalance.onlyNode', { node, n: formatCount(evaluated) }, evaluated)
  if (!over) return ''
  if (!margin) return t('drain.rebalance.evenWith', { node: over })
  const by = parts.map(({ plugin, difference }) => `${plugin} ${difference > 0 ? '+' : ''}${formatCount(difference)}`)
  return t('drain.rebalance.aheadOf', { node: over, by: listed(by) })
}

/** What a policy would do, in few words: to compare policies. */
export function inShort({ summary }: Pick<DescheduleAnswer, 'summary'>): string {
  const fates = (['moved', 'back', 'pending', 'gone'] as const)
    .filter((of) => summary[of])
    .map((of) => t(`drain.rebalance.say.${of}`, { n: summary[of] }, summary[of]))
  return listed([t('drain.rebalance.evictionCount', { n: formatCount(summary.evicted) }, summary.evicted), ...fates])
}

export const refusedBy = ({ by, text }: DescheduleRefused): string => t(`drain.rebalance.by_.${by}`, { text })
