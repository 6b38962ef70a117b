// The scheduler's configuration: reading it, trying a document, applying it, and the
// revisions that were applied. Documents travel as YAML, so that comments stay.

import { request, requestText } from './http'
import type { Applied, Effective, FeatureGate, Revision } from './types'

const path = '/api/v1/schedulerconfiguration'

/** The KubeSchedulerConfiguration as YAML: the user's own, or Kubernetes' default. */
export function getConfiguration(which: 'current' | 'default', signal?: AbortSignal): Promise<string> {
  return requestText(which === 'default' ? `${path}/default` : path, { accept: 'application/yaml', signal })
}

/** Does everything but the swap: throws an ApiError with the document's problems when it could not be applied. */
export function tryConfiguration(document: string, signal?: AbortSignal): Promise<Applied> {
  return request<Applied>(`${path}?dryRun=true`, { method: 'PUT', body: document, type: 'application/yaml', signal })
}

/** Resolves when the new scheduler schedules. After an error the old one does. */
export function applyConfiguration(document: string): Promise<Applied> {
  return request<Applied>(path, { method: 'PUT', body: document, type: 'application/yaml' })
}

/** Back to Kubernetes' default. */
export function resetConfiguration(): Promise<Applied> {
  return request<Applied>(path, { method: 'DELETE' })
}

export function getEffective(signal?: AbortSignal): Promise<Effective> {
  return request<Effective>(`${path}/effective`, { signal })
}

/** Newest first, without their documents. */
export async function listRevisions(signal?: AbortSignal): Promise<Revision[]> {
  return (await request<{ items: Revision[] }>(`${path}/revisions`, { signal })).items ?? []
}

/** A revision with its document. */
export function getRevision(number: number, signal?: AbortSignal): Promise<Revision> {
  return request<Revision>(`${path}/revisions/${number}`, { signal })
}

/** Applies a revision's document again, as a new revision. */
export function applyRevision(number: number): Promise<Applied> {
  return request<Applied>(`${path}/revisions/${number}`, { method: 'POST' })
}

export async function listFeatureGates(signal?: AbortSignal): Promise<FeatureGate[]> {
  return (await request<{ items: FeatureGate[] }>('/api/v1/featuregates', { signal })).items ?? []
}
