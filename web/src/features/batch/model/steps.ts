// Presets as steps: objects that are created together, and what must come true before the next step.

import type { KindInfo, KubeObject } from '@/api/types'

export interface Made {
  kind: KindInfo
  object: KubeObject
}

/** An object of a kind, in the namespace default where the kind has namespaces. */
export const make = (
  kind: KindInfo,
  name: string,
  { metadata, ...rest }: { metadata?: object } & Record<string, unknown>
): Made => ({
  kind,
  object: {
    apiVersion: kind.group ? `${kind.group}/${kind.version}` : kind.version,
    kind: kind.kind,
    ...rest,
    metadata: { name, ...(kind.namespaced ? { namespace: 'default' } : {}), ...metadata },
  } as KubeObject,
})
