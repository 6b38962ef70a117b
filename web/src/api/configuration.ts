// The scheduler's configuration: reading it, trying a document, applying it, and the
// revisions that were applied. Documents travel as YAML, so that comments stay.

import { bodyOf, client } from './client'
import type { Applied, Effective, FeatureGate, Revision } from './types'

const path = '/api/v1/schedulerconfiguration'
const asYAML = { headers: { Accept: 'application/yaml' }, parseAs: 'text' } as const
const ofYAML = { headers: { 'Content-Type': 'application/yaml' }, bodySerializer: (document: unknown) => String(document) } as const

/** The KubeSchedulerConfiguration as YAML: the user's own, or Kubernetes' default. */
export function getConfiguration(which: 'current' | 'default', signal?: AbortSignal): Promise<string> {
  return bodyOf(which === 'default' ? client.GET(`${path}/default`, { ...asYAML, signal }) : client.GET(path, { ...asYAML, signal }))
}

/** Does everything but the swap: throws an ApiError with the document's problems when it could not be applied. */
export function tryConfiguration(document: string, signal?: AbortSignal): Promise<Applied> {
  return bodyOf(client.PUT(path, { ...ofYAML, body: document, params: { query: { dryRun: true } }, signal }))
}

/** Resolves when the new scheduler schedules. After an error the old one does. */
export function applyConfiguration(document: string): Promise<Applied> {
  return bodyOf(client.PUT(path, { ...ofYAML, body: document }))
}

/** Back to Kubernetes' default. */
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

/** A revision with its document. */
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
