// The simulator's own routes.

import { ApiError, request } from './http'
import type { Cycle, PluginResult, Status, Summary, SummaryPage } from './types'

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

/** The attempts of a pod, oldest first. */
export async function getAttempts(uid: string, signal?: AbortSignal): Promise<Summary[]> {
  return (await request<{ items: Summary[] }>(`/api/v1/results/${encodeURIComponent(uid)}`, { signal })).items ?? []
}

/** What keeps a pod out of the scheduler's queue; empty when nothing does. */
export async function getHeld(uid: string, signal?: AbortSignal): Promise<PluginResult[]> {
  try {
    return (await request<{ held?: PluginResult[] }>(`/api/v1/results/${encodeURIComponent(uid)}`, { signal })).held ?? []
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return []
    throw error
  }
}

export function getCycle(uid: string, attempt: number, signal?: AbortSignal): Promise<Cycle> {
  return request<Cycle>(`/api/v1/results/${encodeURIComponent(uid)}/${attempt}`, { signal })
}
