// The effect of a write as two texts to compare.

import type { KindInfo, KubeObject } from '@/api/types'
import { toYaml } from '@/features/yaml/model/documents'
import { apiVersionOf } from '@/kubernetes/kinds'
import { withoutServerMetadata } from '@/kubernetes/object'
import type { Effect } from './perform'
import { without } from './write'

/** The object as YAML, without its status and what the server counts; '' for an absent one. */
function comparableYaml(kind: KindInfo, object: KubeObject | undefined): string {
  if (!object) return ''
  const own = withoutServerMetadata(object)
  return toYaml({
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    ...without(own, ['status']),
    metadata: own.metadata,
  })
}

export function effectText(kind: KindInfo, { before, after }: Effect): { before: string; after: string } {
  return { before: comparableYaml(kind, before), after: comparableYaml(kind, after) }
}
