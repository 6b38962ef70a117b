// Export, import and reset of the simulated cluster.

import { bodyOf, client } from './client'
import type { BranchComparison, ImportPlacements, operations, paths } from './schema'
import type { ImportMode, ImportState, Inactive, Reset } from './types'
import { upload } from './upload'

export type Transfer = 'export' | 'import' | 'reset' | 'replay'

const routes: Record<Transfer, readonly [path: keyof paths, method: string]> = {
  export: ['/api/v1/export', 'get'],
  import: ['/api/v1/import', 'post'],
  reset: ['/api/v1/reset', 'put'],
  replay: ['/api/v1/replay', 'post'],
}

/** The transfers that the server's OpenAPI document contains. */
export async function servedTransfers(signal?: AbortSignal): Promise<ReadonlySet<Transfer>> {
  const document: { paths?: Record<string, Record<string, unknown>> } = await bodyOf(
    client.GET('/api/v1/openapi.json', { signal })
  )
  const served = (Object.keys(routes) as Transfer[]).filter((name) => {
    const [path, method] = routes[name]
    return document.paths?.[path]?.[method] !== undefined
  })
  return new Set(served)
}

/** The cluster as a v1 List, with the scheduler configuration. */
export async function exportCluster(): Promise<{ items: object[]; schedulerConfiguration?: object }> {
  const query = { format: 'json' } as const
  return (await bodyOf(client.GET('/api/v1/export', { params: { query } }))) as never
}

export interface ImportOptions {
  mode: ImportMode
  /** Pods lose their nodes and are scheduled again. */
  reschedule: boolean
}

/**
 * Sends the input of an import, to this page's simulator or to the one at `at`. The response is lines
 * of JSON; `received` gets its parts as they arrive.
 */
export function sendImport(
  body: Blob | FormData,
  options: ImportOptions,
  on: {
    at?: string
    sent: (done: number, total: number) => void
    received: (part: string) => void
    signal: AbortSignal
  }
): Promise<string> {
  const query = new URLSearchParams({ mode: options.mode, reschedule: String(options.reschedule) })
  return upload({
    path: `/api/v1/import?${query}`,
    body,
    ...(body instanceof Blob ? { type: body.type || 'application/octet-stream' } : {}),
    accept: 'application/x-ndjson',
    ...on,
  })
}

export function getImport(signal?: AbortSignal): Promise<ImportState> {
  return bodyOf(client.GET('/api/v1/import', { signal }))
}

export type { ImportLack, ImportPlacements, PlacementCause } from './schema'
export type PlacementQuery = NonNullable<operations['getImportPlacements']['parameters']['query']>

/** Where imported pods are now, compared with where they were. Absent fields select all. */
export function getPlacements(query: PlacementQuery, signal?: AbortSignal): Promise<ImportPlacements> {
  return bodyOf(client.GET('/api/v1/import/placements', { params: { query }, signal }))
}

/** How full the nodes were (a), and are (b). */
export function getImportSides(signal?: AbortSignal): Promise<BranchComparison> {
  return bodyOf(client.GET('/api/v1/import/sides', { signal }))
}

export async function cancelImport(): Promise<void> {
  await client.DELETE('/api/v1/import')
}

/** The imported parts that call no other program until the user activates them. */
export async function listInactive(signal?: AbortSignal): Promise<readonly Inactive[]> {
  return (await bodyOf(client.GET('/api/v1/inactive', { signal }))).items
}

/** Activates one part, or all of them. Returns those that are still inactive. */
export async function activate(part?: Inactive): Promise<readonly Inactive[]> {
  const body = part ? { kind: part.kind, name: part.name } : {}
  return (await bodyOf(client.POST('/api/v1/inactive/activate', { body }))).items
}

export function resetCluster(): Promise<Reset> {
  return bodyOf(client.PUT('/api/v1/reset'))
}
