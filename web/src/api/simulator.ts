// The simulator's own routes.

import { request } from './http'
import type { Attempts, Cycle, Status, SummaryPage } from './types'

export function getStatus(signal?: AbortSignal): Promise<Status> {
  return request<Status>('/api/v1/status', { signal })
}

/** Newest first. Fields that are absent or empty do not restrict. */
export async function listResults(
  query: { namespace?: string; name?: string; uid?: string; outcome?: string; limit?: number; continue?: string },
  signal?: AbortSignal,
): Promise<SummaryPage> {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value) params.set(key, String(value))
  const page = await request<SummaryPage>(`/api/v1/results?${params}`, { signal })
  return { ...page, items: page.items ?? [] }
}

/** What the server knows of a pod: its attempts, oldest first, and the plugins that hold it before the queue. */
export function getAttempts(uid: string, signal?: AbortSignal): Promise<Attempts> {
  return request<Attempts>(`/api/v1/results/${encodeURIComponent(uid)}`, { signal })
}

export function getCycle(uid: string, attempt: number, signal?: AbortSignal): Promise<Cycle> {
  return request<Cycle>(`/api/v1/results/${encodeURIComponent(uid)}/${attempt}`, { signal })
}
