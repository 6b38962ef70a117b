// The Kubernetes API of the simulated cluster, behind /kubernetes.

import { ApiError, ignored, isRecord, request } from './http'
import type { KindInfo, KubeObject } from './types'

/** The field manager under which the API server records our writes. */
export const fieldManager = 'simulator-web'

function readObject(body: unknown): KubeObject {
  if (!isRecord(body) || !isRecord(body.metadata) || typeof body.metadata.name !== 'string')
    throw new ApiError('the API server answered with something that is not an object', 502)
  return body as KubeObject
}

/** Parses a list and drops items that are not objects. */
function readItems<T extends KubeObject>(body: unknown): T[] {
  const { items } = readFields<{ items: unknown[] }>(body)
  return (items ?? []).filter((item): item is T => isRecord(item) && isRecord(item.metadata))
}

function readFields<T extends object>(body: unknown): Partial<T> {
  if (!isRecord(body)) throw new ApiError('the API server answered with something that is not an object', 502)
  return body as Partial<T>
}

export function pathOf(kind: KindInfo, namespace?: string, name?: string): string {
  const root = kind.group ? `/kubernetes/apis/${kind.group}/${kind.version}` : `/kubernetes/api/${kind.version}`
  const space = kind.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${space}/${kind.resource}` + (name ? `/${encodeURIComponent(name)}` : '')
}

export function getObject(
  kind: KindInfo,
  namespace: string | undefined,
  name: string,
  signal?: AbortSignal
): Promise<KubeObject> {
  return request(pathOf(kind, namespace, name), readObject, { signal })
}

/** Creates an object; with dryRun the server does not store it. Unknown fields are errors. */
export function createObject(
  kind: KindInfo,
  namespace: string | undefined,
  object: KubeObject,
  dryRun: boolean,
  action?: string
): Promise<KubeObject> {
  const query = `?fieldManager=${fieldManager}&fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`
  return request(pathOf(kind, namespace) + query, readObject, { method: 'POST', body: object, action })
}

/** Replaces an object. Fails with a conflict if its resourceVersion is outdated. */
export function replaceObject(kind: KindInfo, object: KubeObject, dryRun = false): Promise<KubeObject> {
  const { namespace, name } = object.metadata
  return request(
    `${pathOf(kind, namespace, name)}?fieldManager=${fieldManager}&fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`,
    readObject,
    { method: 'PUT', body: object }
  )
}

export function replaceStatus(kind: KindInfo, object: KubeObject): Promise<KubeObject> {
  const { namespace, name } = object.metadata
  return request(
    `${pathOf(kind, namespace, name)}/status?fieldManager=${fieldManager}&fieldValidation=Strict`,
    readObject,
    { method: 'PUT', body: object }
  )
}

/**
 * Server-side apply: creates the object or changes the given fields. Without force, fields
 * to which other managers gave another value are a conflict (409, with a cause for each
 * field). Fields under our own name, whether created or edited, never conflict.
 */
export async function applyObject(
  kind: KindInfo,
  namespace: string | undefined,
  object: KubeObject,
  options: { dryRun?: boolean; force?: boolean }
): Promise<KubeObject> {
  const applied = await applyTo(pathOf(kind, namespace, object.metadata.name), object, options)
  // A simulated node is defined by its status, which needs its own request.
  if (kind.kind !== 'Node' || kind.group || object.status === undefined) return applied
  const { apiVersion, metadata, status } = object
  const withStatus = await applyTo(
    `${pathOf(kind, namespace, metadata.name)}/status`,
    { apiVersion, kind: kind.kind, metadata: { name: metadata.name }, status } as KubeObject,
    { ...options, force: true }
  )
  return { ...applied, status: withStatus.status }
}

async function applyTo(
  path: string,
  object: KubeObject,
  { dryRun = false, force = false }: { dryRun?: boolean; force?: boolean }
): Promise<KubeObject> {
  const send = (by: boolean) => {
    const query = new URLSearchParams({
      fieldManager,
      fieldValidation: 'Strict',
      force: String(by),
      ...(dryRun ? { dryRun: 'All' } : {}),
    })
    // JSON is YAML, too.
    return request(`${path}?${query}`, readObject, {
      method: 'PATCH',
      type: 'application/apply-patch+yaml',
      body: JSON.stringify(object),
    })
  }
  try {
    return await send(force)
  } catch (error) {
    if (force || !(error instanceof ApiError) || !onlyOurs(error)) throw error
    return send(true)
  }
}

function onlyOurs({ reason, causes }: ApiError): boolean {
  return (
    reason === 'Conflict' &&
    causes.length > 0 &&
    causes.every((c) => c.message?.startsWith(`conflict with "${fieldManager}"`))
  )
}

/** Changes some fields of an object, or of its status: a JSON merge patch. */
export function patchObject(
  kind: KindInfo,
  namespace: string | undefined,
  name: string,
  patch: object,
  dryRun = false,
  subresource?: 'status' | 'resize',
  action?: string
): Promise<KubeObject> {
  return request(
    `${pathOf(kind, namespace, name)}${subresource ? `/${subresource}` : ''}?fieldManager=${fieldManager}${dryRun ? '&dryRun=All' : ''}`,
    readObject,
    { method: 'PATCH', type: 'application/merge-patch+json', body: JSON.stringify(patch), action }
  )
}

/** A core Event, with only the fields that we read. */
export interface KubeEvent extends KubeObject {
  type?: string
  reason?: string
  message?: string
  count?: number
  eventTime?: string | null
  firstTimestamp?: string | null
  lastTimestamp?: string | null
  series?: { count?: number; lastObservedTime?: string }
  reportingComponent?: string
  source?: { component?: string }
}

/** Events about an object. For cluster-scoped objects they are in the namespace default. */
export async function eventsOf(
  kind: KindInfo,
  namespace: string | undefined,
  name: string,
  uid: string | undefined,
  signal?: AbortSignal
): Promise<KubeEvent[]> {
  const selector = [
    `involvedObject.kind=${kind.kind}`,
    `involvedObject.name=${name}`,
    ...(uid ? [`involvedObject.uid=${uid}`] : []),
  ]
  const of = (fields: string[]) =>
    request(
      `/kubernetes/api/v1/namespaces/${encodeURIComponent(namespace ?? 'default')}` +
        `/events?fieldSelector=${encodeURIComponent(fields.join(','))}`,
      readItems<KubeEvent>,
      { signal }
    )
  const events = await of(selector)
  // The kubelet's events about its node have the node's name as uid.
  return !events.length && uid ? of(selector.slice(0, 2)) : events
}

/** The number of objects of a kind, without fetching them; undefined if the server does not report it. */
export async function countObjects(kind: KindInfo, signal?: AbortSignal): Promise<number | undefined> {
  const page = await request(
    `${pathOf(kind)}?limit=1&includeObject=None`,
    readFields<{ metadata: { remainingItemCount?: number; continue?: string }; rows: unknown[] }>,
    {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      signal,
    }
  )
  const rest = page.metadata?.remainingItemCount
  if (rest === undefined && page.metadata?.continue) return undefined
  return (page.rows?.length ?? 0) + (rest ?? 0)
}

/** The names of a kind's objects, sorted by the server; at most 500. */
export async function namesOf(kind: KindInfo): Promise<string[]> {
  const table = await request(
    `${pathOf(kind)}?limit=500&includeObject=None`,
    readFields<{ rows: { cells?: unknown[] }[] }>,
    { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  )
  return (table.rows ?? []).map((row) => String(row.cells?.[0] ?? ''))
}

/** The URL of each group-version's OpenAPI v3 document; keys such as api/v1 and apis/apps/v1. */
export async function openapiPaths(): Promise<Record<string, string>> {
  const index = await request(
    '/kubernetes/openapi/v3',
    readFields<{ paths: Record<string, { serverRelativeURL?: string }> }>
  )
  return Object.fromEntries(
    Object.entries(index.paths ?? {}).flatMap(([path, at]) =>
      at.serverRelativeURL ? [[path, `/kubernetes${at.serverRelativeURL}`]] : []
    )
  )
}

/** A document of openapiPaths. Its URL contains its hash, so browsers cache it. */
export function openapiDocument<T extends object>(path: string): Promise<Partial<T>> {
  return request(path, readFields<T>)
}

/**
 * Deletes an object; with a uid, only exactly this one. Pods are deleted without a grace
 * period, because there is no kubelet that would stop their containers and confirm it.
 */
export function deleteObject(
  kind: KindInfo,
  namespace: string | undefined,
  name: string,
  {
    dryRun = false,
    uid,
    grace = false,
    action,
  }: { dryRun?: boolean; uid?: string | undefined; grace?: boolean; action?: string | undefined } = {}
): Promise<void> {
  const options: Record<string, unknown> = {
    propagationPolicy: 'Background',
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(uid ? { preconditions: { uid } } : {}),
  }
  if (!kind.group && kind.resource === 'pods' && !grace) options.gracePeriodSeconds = 0
  return request(pathOf(kind, namespace, name), ignored, { method: 'DELETE', body: options, action })
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
        subresources?: { subresource: string }[]
      }[]
    }[]
  }[]
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/**
 * Every kind that the server serves, in all versions, each group's preferred version first.
 * It takes two requests, because it uses aggregated discovery.
 */
export async function discover(signal?: AbortSignal): Promise<KindInfo[]> {
  const [core, groups] = await Promise.all([
    request('/kubernetes/api', readFields<DiscoveryList>, { accept: aggregated, signal }),
    request('/kubernetes/apis', readFields<DiscoveryList>, { accept: aggregated, signal }),
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
          subresources: (resource.subresources ?? []).map((s) => s.subresource),
        })
      }
    }
  }
  return kinds
}
