// The effect of a write as two texts to compare.

import type { KindInfo, KubeObject } from '@/api/types'
import { toYaml } from '@/features/yaml/model/documents'
import { apiVersionOf } from '@/kubernetes/kinds'
import type { Effect } from './perform'
import { without } from './write'

/** What the server sets, and differs after every write. */
const serverMetadata = ['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp', 'selfLink']

/** The object as YAML, without its status and what the server counts; '' for an absent one. */
function comparableYaml(kind: KindInfo, object: KubeObject | undefined): string {
  if (!object) return ''
  return toYaml({
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    ...without(object, ['status']),
    metadata: without(object.metadata, serverMetadata) as unknown as KubeObject['metadata'],
  })
}

export function effectText(kind: KindInfo, { before, after }: Effect): { before: string; after: string } {
  return { before: comparableYaml(kind, before), after: comparableYaml(kind, after) }
}
