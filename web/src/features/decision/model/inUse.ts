// Where the amounts come from that NodeResourcesFit compares: the pods behind what is in use on a
// node, and the containers behind a pod's request.

import type { PodRequest, Remark, ResourceHolder, ResourceUse } from '@/api/types'
import { formatMoment } from '@/kubernetes/time'
import { amountOf } from '@/kubernetes/quantity'
import type { Phrase, Words } from './statement'

type Of<Kind extends Remark['kind']> = Extract<Remark, { kind: Kind }>

/** Which containers, running together, request the amount. */
export function derivationText(
  { resource, podLevel, init, parts = [], overhead = 0 }: PodRequest,
  { t }: Words
): string {
  const of = (amount: number) => amountOf(resource, amount)
  const each = (some: typeof parts) =>
    some.map((part) => t('explain.requestPart', { container: part.container, amount: of(part.amount) }))
  let said = each(parts).join(' + ')
  if (podLevel !== undefined && podLevel !== null) said = t('explain.requestOfPod', { amount: of(podLevel) })
  else if (init && parts.length > 1)
    said = t(
      'explain.requestPeak',
      { init: each(parts.slice(0, 1)).join(''), sidecars: each(parts.slice(1)).join(t('common.separator', {})) },
      parts.length - 1
    )
  else if (init) said = t('explain.requestInit', { init: said })
  return overhead ? t('explain.requestOverhead', { said, overhead: of(overhead) }) : said
}

/** Some of `count` pods. */
function some(pods: readonly string[], count: number, { t, names }: Words): string {
  if (pods.length === count) return names(pods)
  const listed = pods.slice(0, 3)
  return [...listed, t('common.more', { n: count - listed.length })].join(t('common.separator', {}))
}

function resizeText(
  resource: string,
  { asked, granted, state }: { asked: number; granted: number; state: string },
  { t }: Words
): string {
  const states: Readonly<Record<string, string>> = {
    deferred: 'explain.resizeDeferred',
    infeasible: 'explain.resizeInfeasible',
  }
  return t(states[state] ?? 'explain.resizeInProgress', {
    asked: amountOf(resource, asked),
    granted: amountOf(resource, granted),
  })
}

/** Why kubectl shows another amount. */
function describedWhy(
  { nominated, permit, resize }: { nominated: boolean; permit: boolean; resize: boolean },
  { t }: Words
): string {
  const why = [
    nominated && 'explain.describedNominated',
    permit && 'explain.describedPermit',
    resize && 'explain.describedResize',
  ]
  return why.flatMap((key) => (key ? [t(key, {})] : [])).join(t('common.separator', {}))
}

export function leavingOf(s: Of<'leaving'>, words: Words): Phrase {
  const of = (amount: number) => amountOf(s.resource, amount)
  return {
    key: 'explain.leaving',
    values: {
      node: s.node,
      resource: s.resource,
      inUse: of(s.inUse),
      leaving: of(s.leaving),
      pods: some(s.pods, s.count, words),
    },
    count: s.count,
  }
}

export function nominatedCountedOf(
  { nodes, pods, node = '', holds = [] }: Of<'nominatedCounted'>,
  { t, names }: Words
): Phrase {
  const counted: Phrase = {
    key: 'explain.nominatedCounted',
    values: { nodes: String(nodes), pods: names(pods) },
    count: nodes,
  }
  if (holds.length === 0) return counted
  const amounts = holds
    .map(({ resource, amount }) => t('explain.lack', { resource, amount: amountOf(resource, amount) }))
    .join(t('common.separator', {}))
  return { key: 'explain.nominatedHolds', values: { counted: t(counted.key, counted.values, nodes), node, amounts } }
}

export function permitHoldOf(s: Of<'permitHold'>, words: Words): Phrase {
  return {
    key: 'explain.permitHold',
    values: {
      pods: some(s.pods, s.count, words),
      node: s.node,
      resource: s.resource,
      amount: amountOf(s.resource, s.amount),
    },
    count: s.count,
  }
}

export function resizingOf(s: Of<'resizing'>, words: Words): Phrase {
  return {
    key: 'explain.resizing',
    values: {
      pod: s.pod,
      resource: s.resource,
      amount: amountOf(s.resource, s.amount),
      resize: resizeText(s.resource, s, words),
    },
  }
}

export function describedOf(s: Of<'described'>, words: Words): Phrase {
  return {
    key: 'explain.described',
    values: {
      node: s.node,
      resource: s.resource,
      inUse: amountOf(s.resource, s.inUse),
      described: amountOf(s.resource, s.described),
      why: describedWhy(s, words),
    },
  }
}

export function derivedOf({ pod, request }: Of<'derived'>, words: Words): Phrase {
  return {
    key: 'explain.derived',
    values: {
      pod,
      resource: request.resource,
      amount: amountOf(request.resource, request.amount),
      derivation: derivationText(request, words),
    },
  }
}

/** What an amount in use is made of, one line for each pod. */
export function useLines(resource: string, inUse: number, use: ResourceUse, words: Words): string[] {
  const { t } = words
  const out = use.pods.map((holder) => {
    const notes = holderNotes(resource, holder, words)
    const values = {
      pod: `${holder.pod.namespace}/${holder.pod.name}`,
      amount: amountOf(resource, holder.amount),
      notes: notes.join(t('common.separator', {})),
    }
    return t(notes.length ? 'cellPanel.use.holderNoted' : 'cellPanel.use.holder', values)
  })
  if (use.others)
    out.push(
      t('cellPanel.use.others', { n: use.others, amount: amountOf(resource, use.othersAmount ?? 0) }, use.others)
    )
  if (use.described !== inUse) {
    const has = (of: (holder: ResourceHolder) => boolean) => use.pods.some(of)
    const why = describedWhy(
      {
        nominated: Boolean(use.nominated),
        permit: has((h) => Boolean(h.permit)),
        resize: has((h) => Boolean(h.resize && h.resize.asked !== h.amount)),
      },
      words
    )
    if (why) out.push(t('cellPanel.use.described', { amount: amountOf(resource, use.described), why }))
  }
  return out
}

function holderNotes(
  resource: string,
  { terminating, until, nominated, permit, resize, request }: ResourceHolder,
  words: Words
): string[] {
  const { t } = words
  const out: string[] = []
  if (nominated) out.push(t('cellPanel.use.nominated', {}))
  if (permit) out.push(t('cellPanel.use.permit', {}))
  if (terminating)
    out.push(
      until ? t('cellPanel.use.terminatingUntil', { until: formatMoment(until) }) : t('cellPanel.use.terminating', {})
    )
  if (resize) out.push(resizeText(resource, resize, words))
  if (request) out.push(derivationText(request, words))
  return out
}
