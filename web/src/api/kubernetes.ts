// The Kubernetes API of the simulated cluster, behind /kubernetes.

import { request } from './http'
import type { KindInfo, KubeObject } from './types'

/** The path of a kind's collection, or of one object in it. */
export function pathOf(kind: KindInfo, namespace?: string, name?: string): string {
  const root = kind.group ? `/kubernetes/apis/${kind.group}/${kind.version}` : `/kubernetes/api/${kind.version}`
  const space = kind.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${space}/${kind.resource}` + (name ? `/${encodeURIComponent(name)}` : '')
}

export function getObject(kind: KindInfo, namespace: string | undefined, name: string, signal?: AbortSignal): Promise<KubeObject> {
  return request<KubeObject>(pathOf(kind, namespace, name), { signal })
}

/** Creates object. With dryRun the server does everything but keep it. Unknown fields are errors. */
export function createObject(kind: KindInfo, namespace: string | undefined, object: KubeObject, dryRun: boolean): Promise<KubeObject> {
  const query = dryRun ? '?dryRun=All&fieldValidation=Strict' : '?fieldValidation=Strict'
  return request<KubeObject>(pathOf(kind, namespace) + query, { method: 'POST', body: object })
}

/** Replaces an object; its resourceVersion decides about conflicts. */
export function replaceObject(kind: KindInfo, object: KubeObject): Promise<KubeObject> {
  const { namespace, name } = object.metadata
  return request<KubeObject>(pathOf(kind, namespace, name) + '?fieldValidation=Strict', { method: 'PUT', body: object })
}

/**
 * Deletes an object. No kubelet runs here that could end a pod's containers and
 * confirm it, so a pod is deleted without a grace period.
 */
export function deleteObject(kind: KindInfo, namespace: string | undefined, name: string): Promise<unknown> {
  const options: Record<string, unknown> = { propagationPolicy: 'Background' }
  if (!kind.group && kind.resource === 'pods') options.gracePeriodSeconds = 0
  return request(pathOf(kind, namespace, name), { method: 'DELETE', body: options })
}

interface DiscoveryList {
  items?: {
    metadata?: { name?: string }
    versions?: {
      version: string
      resources?: {
        resource: string
        responseKind?: { group?: string; version?: string; kind?: string }
        scope?: string
        verbs?: string[]
      }[]
    }[]
  }[]
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/**
 * Every kind that the server serves, all versions, each group's preferred
 * version first. Two requests, by aggregated discovery.
 */
export async function discover(signal?: AbortSignal): Promise<KindInfo[]> {
  const [core, groups] = await Promise.all([
    request<DiscoveryList>('/kubernetes/api', { accept: aggregated, signal }),
    request<DiscoveryList>('/kubernetes/apis', { accept: aggregated, signal }),
  ])
  const kinds: KindInfo[] = []
  for (const group of [...(core.items ?? []), ...(groups.items ?? [])]) {
    for (const version of group.versions ?? []) {
      for (const resource of version.resources ?? []) {
        kinds.push({
          group: group.metadata?.name ?? '',
          version: version.version,
          kind: resource.responseKind?.kind ?? resource.resource,
          resource: resource.resource,
          namespaced: resource.scope === 'Namespaced',
          verbs: resource.verbs ?? [],
        })
      }
    }
  }
  return kinds
}
