// Runs of scenarios, which the server does in memory beside the cluster.

import { bodyOf, client } from './client'
import { based } from './base'
import type { RunDecisionRecord, RunEntry, RunRequest, RunResult } from './types'

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

export function getRunResult(id: string, index: number): Promise<RunResult> {
  return bodyOf(client.GET('/api/v1/runs/{id}/results/{index}', { params: { path: { id, index } } }))
}

/** Where the whole decision behind a failed expectation is to be had. */
export interface RunDecisionPlace {
  id: string
  index: number
  uid: string
  attempt: number
}

export async function getRunDecision(path: RunDecisionPlace): Promise<RunDecisionRecord> {
  // Without a format the answer is JSON.
  return (await bodyOf(
    client.GET('/api/v1/runs/{id}/results/{index}/decisions/{uid}/{attempt}', { params: { path } })
  )) as RunDecisionRecord
}

/** Where that decision is to be had as a file that opens without a server. */
export const runDecisionHref = ({ id, index, uid, attempt }: RunDecisionPlace): string =>
  based(`/api/v1/runs/${id}/results/${index}/decisions/${uid}/${attempt}?format=html`)

/** A scenario of the steps of users between two moments; by default all that are recorded. */
export async function getStepsScenario(query: { from?: string; to?: string }): Promise<string> {
  return (await bodyOf(client.GET('/api/v1/timeline/scenario', { params: { query }, parseAs: 'text' }))) as string
}

/** A scenario that begins with the present cluster. */
export async function getClusterScenario(): Promise<string> {
  return (await bodyOf(client.GET('/api/v1/export/scenario', { parseAs: 'text' }))) as string
}

export function getRunSchema(kind: 'Scenario' | 'Sweep'): Promise<object> {
  return bodyOf(client.GET('/api/v1/runs/schema', { params: { query: { kind } } }))
}
