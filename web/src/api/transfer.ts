// Export, import and reset of the simulated cluster, for servers that have them.

import { request, requestText } from './http'

export type Transfer = 'export' | 'import' | 'reset'

const routes: Record<Transfer, readonly [path: string, method: string]> = {
  export: ['/api/v1/export', 'get'],
  import: ['/api/v1/import', 'post'],
  reset: ['/api/v1/reset', 'put'],
}

/** Which of the three the server's own OpenAPI document lists. */
export async function servedTransfers(signal?: AbortSignal): Promise<ReadonlySet<Transfer>> {
  const document = await request<{ paths?: Record<string, Record<string, unknown>> }>('/api/v1/openapi.json', { signal })
  const served = (Object.keys(routes) as Transfer[]).filter((name) => {
    const [path, method] = routes[name]
    return document.paths?.[path]?.[method] !== undefined
  })
  return new Set(served)
}

/** The cluster as a document, as the server writes it. */
export function exportCluster(): Promise<string> {
  return requestText('/api/v1/export')
}

export function importCluster(text: string, type: 'application/json' | 'application/yaml'): Promise<string> {
  return requestText('/api/v1/import', { method: 'POST', body: text, type })
}

export function resetCluster(): Promise<string> {
  return requestText('/api/v1/reset', { method: 'PUT' })
}
