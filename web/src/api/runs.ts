// Runs of scenarios, which the server does in memory beside the cluster.

import { bodyOf, client } from './client'
import type { RunEntry, RunRequest } from './types'

export function startRun(request: RunRequest): Promise<RunEntry> {
  return bodyOf(client.POST('/api/v1/runs', { body: request }))
}

export async function listRuns(signal?: AbortSignal): Promise<RunEntry[]> {
  return (await bodyOf(client.GET('/api/v1/runs', { signal }))).items
}

export async function getRun(id: string, signal?: AbortSignal): Promise<RunEntry> {
  // Without a format the answer is JSON.
  return (await bodyOf(client.GET('/api/v1/runs/{id}', { params: { path: { id } }, signal }))) as RunEntry
}

/** Cancels runs, or forgets those that have ended. */
export async function deleteRun(id: string): Promise<void> {
  await client.DELETE('/api/v1/runs/{id}', { params: { path: { id } } })
}

/** The JSON Schema of scenario files. */
export function getRunSchema(): Promise<object> {
  return bodyOf(client.GET('/api/v1/runs/schema'))
}
