// A NodePool as it is edited, and the change that makes the text real.

import type { Change, KubeObject } from '@/api/types'
import { changeable, patchBetween, without } from '@/features/act/model/write'
import { parseText, toYaml } from '@/features/yaml/model/documents'
import { nodePoolKind } from '@/kubernetes/autoscaling'
import { apiVersionOf } from '@/kubernetes/kinds'
import { withoutServerMetadata } from '@/kubernetes/object'

/** The definitions without which the API server serves no NodePool, and Karpenter has no nodes. */
export const definitions = ['nodepools.karpenter.sh', 'nodeclaims.karpenter.sh'] as const

export const head = { apiVersion: apiVersionOf(nodePoolKind), kind: nodePoolKind.kind } as const

export const examplePool: KubeObject = {
  ...head,
  metadata: { name: 'general' },
  spec: {
    limits: { cpu: '100' },
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
        requirements: [
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
          { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
        ],
      },
    },
  },
}

/** A NodePool as a user edits it: without what the server writes. */
export function textOf(pool: KubeObject): string {
  const { metadata, ...rest } = withoutServerMetadata(pool)
  return toYaml({ ...without(rest, ['status']), ...head, metadata })
}

/**
 * The change that makes a text real: of the NodePool of that name, or a new one. undefined for a text that is not
 * exactly one NodePool.
 */
export function changeOf(text: string, pools: ReadonlyMap<string, KubeObject>): Change | undefined {
  const { entries, problems } = parseText(text)
  const [entry] = entries
  if (problems.length || entries.length !== 1 || entry?.kind !== head.kind || entry.apiVersion !== head.apiVersion)
    return undefined
  const then = entry.object
  const now = pools.get(then.metadata.name)
  if (!now) return { apply: then as unknown as NonNullable<Change['apply']> }
  const patch = patchBetween(changeable({ ...now, ...head }), changeable(then))
  return { patch: { ...head, name: now.metadata.name, patch } }
}
