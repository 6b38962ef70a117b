// Sentences about an answer.

import type {
  AdmissionReason,
  SubmitAnswer,
  SubmitAnswers,
  SubmitChange,
  SubmitElsewhere,
  SubmitStart,
  SubmitTier,
  WhyReason,
} from '@/api/types'
import { why } from '@/features/queues/sentences'
import { t } from '@/i18n'
import { resourceName } from '@/kubernetes/cluster'
import { formatResource, parseQuantity } from '@/kubernetes/quantity'
import { formatClock } from '@/kubernetes/time'
import { caseOf, explainedPlugins, flavorsTried, nodesOn, shortOf, tightestOf, whenOf } from './model/submit'

const mostNodes = 4

export const listed = (parts: readonly string[]): string => parts.join(t('common.separator'))

export const amount = (resource: string, much: string): string =>
  `${formatResource(resource, parseQuantity(much))} ${resourceName(resource)}`

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

type Range = Pick<SubmitStart, 'earliest' | 'latest'>

const clocks = ({ earliest, latest }: Partial<Range>) => ({
  from: earliest ? formatClock(earliest, false) : '',
  to: latest ? formatClock(latest, false) : '',
})

export const when = (answer: SubmitAnswer): string => {
  const kind = whenOf(answer)
  return kind === 'between' ? between(answer.start) : t(`submit.when.${kind}`, clocks(answer.start))
}

/** When a workload ends that holds quota. */
export const ends = (range: Range): string =>
  t(`submit.ends.${!range.earliest ? 'unknown' : range.latest ? 'between' : 'after'}`, clocks(range))

/** A start that is not at once. */
export function between({ earliest, latest }: Partial<Range>): string {
  const kind = !earliest ? 'unknown' : !latest ? 'after' : latest === earliest ? 'at' : 'between'
  return t(`submit.when.${kind}`, clocks({ earliest, latest }))
}

/** Reasons of admission, or the server's own English for want of them. */
export const because = (said: readonly AdmissionReason[], english: string): string =>
  said.length ? [...new Set(said.map(why))].join(' ') : english

/** What was found of a tier. */
export function finding(answer: SubmitAnswer, tier: SubmitTier): string {
  const { found } = tier
  const quota = answer.quota
  if (!found || !quota) return ''
  const room = tightestOf(quota)
  switch (found.kind) {
    case 'queue':
      return t('submit.found.queue', { queue: quota.localQueue, to: quota.clusterQueue })
    case 'flavors':
      return t('submit.found.flavors', { flavors: listed(flavorsTried(quota)) })
    case 'capacity':
      return t('submit.found.capacity', {
        asks: room ? amount(room.resource, room.asks) : '',
        capacity: room ? amount(room.resource, room.capacity) : '',
      })
    case 'short':
      return t('submit.found.short', {
        amount: listed(shortOf(quota).map(({ resource, short }) => amount(resource, short))),
      })
    case 'victims':
      return t('submit.found.victims', { n: found.count ?? 0 }, found.count ?? 0)
    case 'domain':
      return t('submit.found.domain', { domain: found.domain ?? '' })
    case 'reason':
      return because(answer.reason.said, answer.reason.text)
    default:
      return t(`submit.found.${found.kind}`)
  }
}

/** Why nodes reject a pod, without the plugin's own words. */
export function rejection({ plugin, count }: WhyReason): string {
  const known = explainedPlugins.find((name) => name === plugin)
  return t(
    'submit.rejects',
    { n: count, why: known ? t(`submit.plugin.${known}`) : t('submit.pluginOther', { plugin }) },
    count
  )
}

/** The node that lacks the least; empty if resources are not what it lacks. */
export function nearest({ nodes }: SubmitAnswer): string {
  const lacks = (nodes.nearest?.lacks ?? []).filter(({ amount: much }) => much > 0)
  if (!nodes.nearest || !lacks.length) return ''
  return t('submit.nearest', {
    node: nodes.nearest.node,
    amount: listed(
      lacks.map(
        ({ resource, amount: much }) =>
          `${formatResource(resource, resource === 'cpu' ? much / 1000 : much)} ${resourceName(resource)}`
      )
    ),
  })
}

/** Which finished workloads a duration is of. */
export function finished({ alike, queue }: SubmitStart['restsOn'][number]): string {
  if (!queue) return t('submit.kin.all')
  return alike ? t('submit.kin.alike', { alike, queue }) : t('submit.kin.queue', { queue })
}

export function circumstance({ kind, queue, at }: SubmitElsewhere): string {
  if (kind === 'queue') return t('submit.elsewhere.queue', { queue: queue ?? '' })
  return kind === 'noQueue' ? t('submit.elsewhere.noQueue') : t('submit.elsewhere.later', clocks({ earliest: at }))
}

/** What would become of the job there. */
export function outcome(one: SubmitElsewhere): string {
  const parts: string[] = []
  if (one.tier) parts.push(one.tier)
  if (one.flavors.length) parts.push(t('submit.elsewhere.flavors', { flavors: listed(one.flavors) }))
  for (const borrow of one.borrows) {
    parts.push(t('submit.borrows', { amount: amount(borrow.resource, borrow.amount), queue: borrow.clusterQueue }))
  }
  if (one.preempts.length) parts.push(t('submit.changePreempts', { names: listed(one.preempts) }))
  parts.push(t('submit.changeFit', { fit: one.fit, pods: one.pods }))
  return listed(parts)
}

export function starts(one: SubmitElsewhere): string {
  if (one.verdict === 'waits') return between(one)
  if (one.verdict === 'never') return t('submit.when.never')
  return one.fit >= one.needs ? t('submit.when.now') : t('submit.noNode')
}

/** When the job would start after a change. */
export function effect(one: SubmitChange, answer: SubmitAnswer): string {
  if (one.kind === 'wait') return when(answer)
  if (one.admitted) return one.fit >= Math.min(one.pods, answer.nodes.needs) ? t('submit.when.now') : t('submit.noNode')
  return between(one)
}

/** What a change does beside the start. */
export function consequences(one: SubmitChange): string[] {
  return [
    ...(one.flavors?.length ? [t('submit.elsewhere.flavors', { flavors: listed(one.flavors) })] : []),
    t('submit.changeFit', { fit: one.fit, pods: one.pods }),
    ...(one.preempts.length ? [t('submit.changePreempts', { names: listed(one.preempts) })] : []),
  ]
}

export function change(one: SubmitChange): string {
  const s = one.suggestion
  if (one.kind === 'wait') return t('submit.change.wait')
  if (one.kind === 'rival') return t('submit.change.rival')
  if (one.kind === 'withdraw') return t('submit.change.withdraw', { name: one.workload ?? '' })
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
    case 'quota':
      return t('submit.change.quota', {
        queue: s.clusterQueue ?? '',
        flavor: s.flavor ?? '',
        amount: amounts(s.quota ?? {}),
      })
    case 'finish':
      return t('submit.change.finish', {
        name: listed([s.workload?.name ?? '', ...(s.others ?? []).map(({ name }) => name)]),
      })
  }
}
