// The simulator's state, and the results of the scheduler.

import { bodyOf, client } from './client'
import type { operations } from './schema'
import type { Attempts, Cycle, Status, SummaryPage } from './types'

export function getStatus(signal?: AbortSignal): Promise<Status> {
  return bodyOf(client.GET('/api/v1/status', { signal }))
}

export type ResultsQuery = NonNullable<operations['listResults']['parameters']['query']>

/** Newest first. Absent fields match everything. */
export function listResults(query: ResultsQuery, signal?: AbortSignal): Promise<SummaryPage> {
  return bodyOf(client.GET('/api/v1/results', { params: { query }, signal }))
}

/** A pod's attempts, oldest first, and the plugins that now keep it out of the queue. */
export function getAttempts(uid: string, signal?: AbortSignal): Promise<Attempts> {
  return bodyOf(client.GET('/api/v1/results/{uid}', { params: { path: { uid } }, signal }))
}

/** Lets the scheduler try a waiting pod now. Fails with 409 if the pod does not wait any more. */
export async function tryNow(uid: string): Promise<void> {
  await bodyOf(client.POST('/api/v1/results/{uid}/try', { params: { path: { uid } } }))
}

/** The route also serves reports, for which it must be asked. */
export function getCycle(uid: string, attempt: number, signal?: AbortSignal): Promise<Cycle> {
  return bodyOf(
    client.GET('/api/v1/results/{uid}/{attempt}', { params: { path: { uid, attempt } }, signal })
  ) as Promise<Cycle>
}
