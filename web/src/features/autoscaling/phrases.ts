// Sentences about an answer.

import type {
  AutoscaleAnswer,
  AutoscaleBlocker,
  AutoscaleCheaper,
  AutoscaleDeparture,
  AutoscaleNeeded,
  AutoscaleNewNode,
  AutoscalePod,
  AutoscaleRefusal,
  Taint,
} from '@/api/types'
import { t } from '@/i18n'
import { dollars } from '@/i18n/money'
import { resourceName } from '@/kubernetes/cluster'
import { formatResource, parseQuantity } from '@/kubernetes/quantity'
import { elsewhere, lacksOf, movesOf, podName, verdictOf, type Lack } from './model/answer'

export const listed = (parts: readonly string[]): string => parts.join(t('common.separator'))

export const named = (keys: readonly string[]): string => listed(keys.map(podName))

/** A text of our own; or the server's, which is in English. */
export interface Said {
  text: string
  english?: boolean
}

const own = (text: string): Said => ({ text })

export function sentence(answer: AutoscaleAnswer): string {
  const { pods, newNode, existingNode, none, notJudged, disagreements } = answer.summary
  if (!pods) return t('autoscaling.say.noPods')
  const nodes = t('common.nodes', { n: answer.cost.newNodes }, answer.cost.newNodes)
  const bought = { n: newNode, pods, nodes, price: dollars(answer.cost.newPricePerHour) }
  const parts = [
    newNode === 0
      ? t('autoscaling.say.none', { pods }, pods)
      : newNode === pods
        ? t('autoscaling.say.all', bought, pods)
        : t('autoscaling.say.some', bought),
  ]
  const also = (count: number, key: 'helpsNone' | 'existing' | 'notJudged' | 'disagree') => {
    if (count) parts.push(t(`autoscaling.say.${key}`, { n: t('common.pods', { n: count }, count) }))
  }
  also(existingNode, 'existing')
  if (newNode || existingNode || notJudged) also(none, 'helpsNone')
  also(notJudged, 'notJudged')
  also(disagreements, 'disagree')
  return parts.join(t('common.sentenceGap'))
}

export function nodesSentence({ nodes }: Pick<AutoscaleAnswer, 'nodes'>): string {
  if (!nodes.length) return t('autoscaling.say.noNodes')
  const saved = nodes.flatMap(({ outcome }) => outcome?.savesPerHour ?? [])
  return saved.length
    ? t(
        'autoscaling.say.nodes',
        { n: nodes.length, could: saved.length, price: dollars(Math.max(...saved)) },
        nodes.length
      )
    : t('autoscaling.say.nodesNone', { n: nodes.length }, nodes.length)
}

/** What becomes of a node, and what would without its blockers. */
export function nodeSentence(of: AutoscaleDeparture): string {
  const verdict = verdictOf(of)
  const node = of.node
  if (of.outcome) {
    const type = of.outcome.replacement?.instanceType ?? ''
    return t(`autoscaling.say.${verdict === 'replaced' ? 'replaced' : 'goes'}`, {
      node,
      type,
      price: dollars(of.outcome.savesPerHour),
    })
  }
  const first = of.blockers?.[0]
  const parts = [
    t('autoscaling.say.stays', { node, why: first ? blocker(first).text : of.needed ? need(of.needed).text : '' }),
  ]
  if (of.otherwise) {
    const type = of.otherwise.replacement?.instanceType
    parts.push(
      t(`autoscaling.say.${type ? 'otherwiseReplaced' : 'otherwise'}`, {
        type: type ?? '',
        price: dollars(of.otherwise.savesPerHour),
      })
    )
  } else if (first && of.needed) parts.push(t('autoscaling.say.stillNeeded', { why: need(of.needed).text }))
  return parts.join(t('common.sentenceGap'))
}

export function changeSentence({ summary, cost, before }: AutoscaleAnswer): string {
  if (!before) return sentence({ summary, cost } as AutoscaleAnswer)
  const same = summary.newNode === before.summary.newNode
  return t(`autoscaling.say.${same ? 'changedSame' : 'changed'}`, {
    after: summary.newNode,
    before: before.summary.newNode,
    pods: summary.pods,
    price: dollars(cost.newPricePerHour),
    priceBefore: dollars(before.cost.newPricePerHour),
  })
}

const resources = (names: readonly string[]) => listed(names.map(resourceName))

/** Why a NodePool does not help a pod, or no pod. */
export function refusal(of: AutoscaleRefusal): Said {
  switch (of.kind) {
    case 'taints': {
      const taints = ((of.taints ?? []) as unknown as Taint[]).map(
        ({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`
      )
      return own(t('autoscaling.why.taints', { taints: listed(taints) }))
    }
    case 'requirements':
    case 'volumes':
      return own(
        listed(
          (of.conflicts ?? []).map(({ key, wanted, offered }) =>
            t(`autoscaling.why.${of.kind as 'requirements' | 'volumes'}${offered ? '' : 'None'}`, {
              key,
              wanted,
              offered: offered ?? '',
            })
          )
        )
      )
    case 'types': {
      const n = lacksOf(of.types).reduce((sum, { count }) => sum + count, 0)
      return own(n ? t('autoscaling.why.types', { n }, n) : t('autoscaling.why.typesNone'))
    }
    case 'limits':
      return own(t(of.types?.length ? 'autoscaling.why.limits' : 'autoscaling.why.limitsAll'))
    case 'topology':
      return own(
        of.constraints?.length
          ? t('autoscaling.why.topologyBy', { constraints: listed(of.constraints) })
          : t('autoscaling.why.topology')
      )
    // What the server says has the condition, the number or the message.
    case 'invalid':
    case 'notReady':
    case 'later':
    case 'unsupported':
      return { text: of.reason, english: true }
    default:
      return own(t(`autoscaling.why.${of.kind}`))
  }
}

/** Why Karpenter skips a pod, or refuses it whatever the NodePool. */
export function podReason({ kind = 'other', reason = '' }: Pick<AutoscalePod, 'kind' | 'reason'>): Said {
  return kind === 'unsupported' || kind === 'other'
    ? { text: reason, english: true }
    : own(t(`autoscaling.why.${kind as 'gated'}`))
}

export const lack = ({ lack: kind, names, count }: Lack): string =>
  t(
    `autoscaling.lack.${kind}`,
    { names: kind === 'resources' || kind === 'limit' ? resources(names) : listed(names) },
    count
  )

/** What a cheaper offer lacks. */
export function cheaper(offer: AutoscaleCheaper, node: AutoscaleNewNode): Said {
  if (offer.short?.length) {
    const short = offer.short.map(({ resource, wanted, has }) => {
      const amount = parseQuantity(wanted) - parseQuantity(has)
      return t('autoscaling.short', { amount: `${formatResource(resource, amount)} ${resourceName(resource)}` })
    })
    return own(listed(short))
  }
  switch (offer.lack) {
    case 'offering':
      return own(t(`autoscaling.elsewhere.${elsewhere(offer, node)}`, { ...offer }))
    case 'availability':
      return own(t('autoscaling.unavailable'))
    default:
      return { text: offer.reason, english: true }
  }
}

export function blocker({ kind, object, pods = [], reason }: AutoscaleBlocker): Said {
  if (kind === 'other') return { text: reason, english: true }
  return own(t(`autoscaling.blocker.${kind}`, { object: podName(object), pods: named(pods) }))
}

export function need({ kind, pods = [] }: AutoscaleNeeded): Said {
  return own(t(`autoscaling.need.${kind}`, { pods: named(pods) }))
}

/** In a line: what becomes of a node, and why. */
export function verdict(of: AutoscaleDeparture): { text: string; why: Said } {
  const kind = verdictOf(of)
  const first = of.blockers?.[0]
  const moves = of.outcome ? movesOf(of.outcome).length : 0
  return {
    text: t(`autoscaling.verdict.${kind}`, { type: of.outcome?.replacement?.instanceType ?? '' }),
    why: of.outcome
      ? own(moves ? t('autoscaling.movesCount', { n: moves }, moves) : t('autoscaling.movesNone'))
      : first
        ? blocker(first)
        : of.needed
          ? need(of.needed)
          : own(''),
  }
}

export const autoscalerSays = ({ verdict: kind, node = '' }: AutoscalePod): string =>
  t(`autoscaling.autoscalerSays.${kind}`, { node })

export function schedulerSays({ scheduler }: AutoscalePod): string {
  const { node, then, nominated } = scheduler ?? {}
  if (node) return t('autoscaling.schedulerSays.node', { node })
  if (then) return t('autoscaling.schedulerSays.then', { node: then })
  if (nominated) return t('autoscaling.schedulerSays.nominated', { node: nominated })
  return t('autoscaling.schedulerSays.nowhere')
}
