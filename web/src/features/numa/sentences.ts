// The sentence about a node: which container gets which NUMA node, or what was missing in which.

import { t } from '@/i18n'
import { resourceName } from '@/kubernetes/cluster'
import { amountOf } from '@/kubernetes/quantity'
import { zoneId, type NumaNode } from './model/topology'
import { onlyShort, type NumaVerdict } from './model/verdicts'

/** "NUMA 0" */
export const zoneWords = (name: string): string => t('numa.zone', { n: zoneId(name) ?? name })

/** "decode", "the pod" */
export const partWords = (role: string, container: string): string =>
  role === 'pod'
    ? t('numa.thePod')
    : role === 'container'
      ? container
      : t(`numa.partOf.${role === 'init container' ? 'init' : 'sidecar'}`, { name: container })

const list = (items: readonly string[]) => items.join(t('common.separator'))

export function sentence(node: NumaNode, verdict: NumaVerdict | undefined): string {
  if (!verdict) return t('numa.say.noRecord')
  switch (verdict.kind) {
    case 'aligned':
      if (!verdict.parts) return t('numa.say.aligned')
      return list(
        verdict.parts.map(({ role, container, zone: at }) =>
          t('numa.say.gets', { part: partWords(role, container), zone: zoneWords(at) })
        )
      )
    case 'rejected': {
      const who = partWords(verdict.role, verdict.container)
      const only = onlyShort(verdict.zones)
      if (only)
        return t('numa.say.onlyShort', {
          part: who,
          requested: amountOf(only.resource, only.requested),
          resource: resourceName(only.resource),
          zones: list(
            verdict.zones.map(({ zone: at, short }) =>
              t(short[0]?.absent ? 'numa.say.hasNone' : 'numa.say.has', {
                zone: zoneWords(at),
                amount: amountOf(only.resource, short[0]?.available ?? 0),
              })
            )
          ),
        })
      return t('numa.say.lacks', {
        part: who,
        zones: list(
          verdict.zones.map(({ zone: at, short }) =>
            t('numa.say.lack', {
              zone: zoneWords(at),
              what: short
                .map((one) =>
                  t('numa.say.shortBy', {
                    amount: amountOf(one.resource, one.requested - one.available),
                    resource: resourceName(one.resource),
                  })
                )
                .join(t('numa.and')),
            })
          )
        ),
      })
    }
    case 'stale':
      return t('numa.say.stale', { reason: verdict.reason })
    case 'unchecked':
      return node.policy === 'single-numa-node' ? t('numa.say.unchecked') : t('numa.say.uncheckedPolicy')
    case 'shared':
      return t('numa.say.shared')
    case 'other':
      return t('numa.say.other', { plugin: verdict.plugin, reason: verdict.reason })
    case 'notEvaluated':
      return t('numa.say.notEvaluated')
  }
}
