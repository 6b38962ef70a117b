// What the node lacks that a pod which fits nowhere came nearest to, in words.

import type { NearestNode } from '@/features/decision/model/nearest'
import { t } from '@/i18n'
import { resourceName } from '@/kubernetes/cluster'
import { amountOf } from '@/kubernetes/quantity'

export function lacksText(lacks: readonly { resource: string; amount: number }[]): string {
  return lacks
    .map(({ resource, amount }) =>
      t('explain.lack', { resource: resourceName(resource), amount: amountOf(resource, amount) })
    )
    .join(t('common.separator'))
}

/** For a label beside the node: "0.5 CPU short", or the plugin that rejected it. */
export const nearestLabel = ({ why }: NearestNode) =>
  why.kind === 'lacks' ? t('made.short', { lacks: lacksText(why.lacks) }) : why.by
