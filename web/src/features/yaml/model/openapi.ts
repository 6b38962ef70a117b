// Reads the API server's OpenAPI v3 documents as schemas of objects.

import type { Head, Schema, SchemaRoot } from './schema'

/** A document of /openapi/v3, one for each group-version. */
export interface OpenapiDocument {
  components?: { schemas?: Record<string, Schema> }
}

/** The key of a group-version's document in the index: api/v1, apis/apps/v1. */
export function openapiKey(apiVersion: string): string {
  return apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`
}

const prefix = '#/components/schemas/'

/** The schema of a kind in its group-version's document. */
export function rootOf(document: OpenapiDocument, { apiVersion, kind }: Head): SchemaRoot | undefined {
  const schemas = document.components?.schemas ?? {}
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const schema = Object.values(schemas).find(
    (s) =>
      s['x-kubernetes-group-version-kind']?.some(
        (g) => g.group === group && g.version === version && g.kind === kind
      ) && s.properties
  )
  return (
    schema && { schema, resolve: (ref) => (ref.startsWith(prefix) ? schemas[ref.slice(prefix.length)] : undefined) }
  )
}
