// Finds kinds among those that the API server serves.

import type { KindInfo } from '@/api/types'

export const podKind: KindInfo = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  resource: 'pods',
  namespaced: true,
  verbs: [],
}
export const nodeKind: KindInfo = {
  group: '',
  version: 'v1',
  kind: 'Node',
  resource: 'nodes',
  namespaced: false,
  verbs: [],
}

export const eventKind: KindInfo = {
  group: '',
  version: 'v1',
  kind: 'Event',
  resource: 'events',
  namespaced: true,
  verbs: [],
}
export const namespaceKind: KindInfo = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  namespaced: false,
  verbs: [],
}

export function apiVersionOf(kind: KindInfo): string {
  return kind.group ? `${kind.group}/${kind.version}` : kind.version
}

/** The kind as part of a URL: "pods", "deployments.apps". */
export function kindSlug(kind: KindInfo): string {
  return kind.group ? `${kind.resource}.${kind.group}` : kind.resource
}

/** Matches apiVersion and kind exactly; undefined when it is not served. */
export function resolveKind(kinds: readonly KindInfo[], apiVersion: string, kind: string): KindInfo | undefined {
  return kinds.find((k) => k.kind === kind && apiVersionOf(k) === apiVersion)
}

/** The kinds that a user can view and change: one entry per resource, in its first version. */
export function browsableKinds(kinds: readonly KindInfo[]): KindInfo[] {
  const seen = new Set<string>()
  const out: KindInfo[] = []
  for (const kind of kinds) {
    const slug = kindSlug(kind)
    if (seen.has(slug) || !kind.verbs.includes('list') || !kind.verbs.includes('watch')) continue
    // Events are served twice; the core API returns the same objects.
    if (slug === 'events' && kinds.some((k) => k.group === 'events.k8s.io')) continue
    seen.add(slug)
    out.push(kind)
  }
  return out.sort((a, b) => a.kind.localeCompare(b.kind) || a.group.localeCompare(b.group))
}

/** The kinds that scheduler engineers open first, in that order. */
export const favourites: readonly string[] = [
  'nodes',
  'pods',
  'deployments.apps',
  'jobs.batch',
  'persistentvolumes',
  'persistentvolumeclaims',
  'storageclasses.storage.k8s.io',
  'priorityclasses.scheduling.k8s.io',
  'namespaces',
  'poddisruptionbudgets.policy',
  'resourceclaims.resource.k8s.io',
]

/** Node → Nodes, PriorityClass → PriorityClasses: the kind's plural as a heading. */
export function pluralOf(kind: KindInfo): string {
  if (/(s|x|ch|sh)$/.test(kind.kind))
    return kind.resource.endsWith(kind.kind.toLowerCase()) ? kind.kind : `${kind.kind}es`
  if (/[^aeiou]y$/.test(kind.kind)) return `${kind.kind.slice(0, -1)}ies`
  return `${kind.kind}s`
}

/** Whether a kind is the given resource, in whatever version. */
export function isResource(kind: KindInfo | undefined, resource: KindInfo): boolean {
  return kind?.resource === resource.resource && kind.group === resource.group
}
