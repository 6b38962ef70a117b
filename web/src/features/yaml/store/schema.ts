// Schemas of the cluster's kinds for the editor: the API server's OpenAPI documents, each
// loaded on first use, and names of objects for fields that take one.

import { namesOf, openapiDocument, openapiPaths } from '@/api/kubernetes'
import { apiVersionOf } from '@/kubernetes/kinds'
import { openapiKey, rootOf, type OpenapiDocument } from '../model/openapi'
import type { Head, SchemaRoot, SchemaSource } from '../model/schema'
import { kinds, loadKinds } from '@/live/discovery'
import { nodes } from '@/live/watched'
import { status } from '@/live/status'

let index: Promise<Record<string, string>> | undefined
let indexOf: unknown
const documents = new Map<string, Promise<OpenapiDocument>>()

function paths(): Promise<Record<string, string>> {
  // A new list of kinds invalidates the documents.
  if (!index || indexOf !== kinds.value) {
    indexOf = kinds.value
    index = openapiPaths().catch((error: unknown) => {
      index = undefined
      throw error
    })
  }
  return index
}

/** The schema of a served kind; undefined when it has none or the request failed. */
export async function kindSchema(head: Head): Promise<SchemaRoot | undefined> {
  try {
    if (!head.apiVersion || !head.kind) return undefined
    const path = (await paths())[openapiKey(head.apiVersion)]
    if (!path) return undefined
    let document = documents.get(path)
    if (!document) {
      document = openapiDocument<OpenapiDocument>(path)
      documents.set(path, document)
      document.catch(() => documents.delete(path))
    }
    return rootOf(await document, head)
  } catch {
    // The editor also works without a schema.
    return undefined
  }
}

/** Kinds whose object names a field takes, by the field's name. */
const namedBy: Record<string, string> = {
  priorityClassName: 'priorityclasses',
  namespace: 'namespaces',
  storageClassName: 'storageclasses',
  volumeName: 'persistentvolumes',
  claimName: 'persistentvolumeclaims',
  serviceAccountName: 'serviceaccounts',
  deviceClassName: 'deviceclasses',
  resourceClaimName: 'resourceclaims',
  resourceClaimTemplateName: 'resourceclaimtemplates',
  runtimeClassName: 'runtimeclasses',
}
const labelKeyFields = new Set(['topologyKey', 'key'])

async function names(path: readonly string[]): Promise<readonly string[]> {
  const field = path.at(-1) ?? ''
  if (field === 'nodeName') return [...nodes.value.items.keys()].slice(0, 500)
  if (field === 'schedulerName') return status.value?.scheduler.profiles ?? []
  if (labelKeyFields.has(field) && path.some((p) => /topology|Affinity|nodeSelector/i.test(p))) return nodeLabelKeys()
  const resource = namedBy[field]
  const kind = resource && (await loadKinds()).find((k) => k.resource === resource)
  return kind ? namesOf(kind) : []
}

function nodeLabelKeys(): string[] {
  const keys = new Set<string>()
  let seen = 0
  for (const node of nodes.value.items.values()) {
    for (const key of Object.keys(node.metadata.labels ?? {})) keys.add(key)
    if (++seen >= 200) break
  }
  return [...keys].sort()
}

/** For editors of cluster objects. */
export const clusterSchema: SchemaSource = {
  root: kindSchema,
  async heads() {
    try {
      const found = await loadKinds()
      return found
        .filter((k) => k.verbs.includes('create') && k.verbs.includes('list'))
        .map((k) => ({ apiVersion: apiVersionOf(k), kind: k.kind }))
    } catch {
      return []
    }
  },
  async values(_, path) {
    try {
      return await names(path)
    } catch {
      return []
    }
  },
}
