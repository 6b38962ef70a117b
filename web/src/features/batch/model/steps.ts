// Objects of presets.

import type { KindInfo, KubeObject } from '@/api/types'

/** An object of a kind, in the namespace default where the kind has namespaces. */
export const make = (
  kind: Pick<KindInfo, 'group' | 'version' | 'kind' | 'namespaced'>,
  name: string,
  { metadata, ...rest }: { metadata?: object } & Record<string, unknown>
): KubeObject =>
  ({
    apiVersion: kind.group ? `${kind.group}/${kind.version}` : kind.version,
    kind: kind.kind,
    ...rest,
    metadata: { name, ...(kind.namespaced ? { namespace: 'default' } : {}), ...metadata },
  }) as KubeObject
