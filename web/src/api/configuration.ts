// The scheduler's configuration: reading it, dry-running and applying a document, and the
// applied revisions. Documents are sent as YAML, which keeps their comments.

import { bodyOf, client } from './client'
import type { Applied, Effective, FeatureGate, Revision } from './types'

const path = '/api/v1/schedulerconfiguration'
const asYAML = { headers: { Accept: 'application/yaml' }, parseAs: 'text' } as const
const ofYAML = {
  headers: { 'Content-Type': 'application/yaml' },
  bodySerializer: (document: unknown) => String(document),
} as const

/** The KubeSchedulerConfiguration as YAML: the user's own, or Kubernetes' default. */
export function getConfiguration(which: 'current' | 'default', signal?: AbortSignal): Promise<string> {
  return bodyOf(
    which === 'default' ? client.GET(`${path}/default`, { ...asYAML, signal }) : client.GET(path, { ...asYAML, signal })
  )
}

/** Dry-runs an apply: throws an ApiError with the document's problems if it cannot be applied. */
export function tryConfiguration(document: string, signal?: AbortSignal): Promise<Applied> {
  return bodyOf(client.PUT(path, { ...ofYAML, body: document, params: { query: { dryRun: true } }, signal }))
}

/** Resolves when the new scheduler is running. After an error the old one is still running. */
export function applyConfiguration(document: string): Promise<Applied> {
  return bodyOf(client.PUT(path, { ...ofYAML, body: document }))
}

export function resetConfiguration(): Promise<Applied> {
  return bodyOf(client.DELETE(path))
}

export function getEffective(signal?: AbortSignal): Promise<Effective> {
  return bodyOf(client.GET(`${path}/effective`, { signal }))
}

/** Newest first, without their documents. */
export async function listRevisions(signal?: AbortSignal): Promise<Revision[]> {
  return (await bodyOf(client.GET(`${path}/revisions`, { signal }))).items
}

export function getRevision(number: number, signal?: AbortSignal): Promise<Revision> {
  return bodyOf(client.GET(`${path}/revisions/{number}`, { params: { path: { number } }, signal }))
}

/** Applies a revision's document again, as a new revision. */
export function applyRevision(number: number): Promise<Applied> {
  return bodyOf(client.POST(`${path}/revisions/{number}`, { params: { path: { number } } }))
}

export async function listFeatureGates(signal?: AbortSignal): Promise<FeatureGate[]> {
  return (await bodyOf(client.GET('/api/v1/featuregates', { signal }))).items
}
