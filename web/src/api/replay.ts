// The replay of a recording: loading it, its transport, its comparison with what was recorded.

import { request, requestText } from './http'
import type { components } from './schema'
import { upload } from './upload'

type Schemas = components['schemas']
/** A recording that is loaded, and where it stands. All its times are on the recorded clock. */
export type Replay = Schemas['Replay']
export type ReplayChange = Schemas['ReplayControl']
export type ReplayOutcome = Schemas['ReplayOutcome']
export type ReplayDecision = Schemas['ReplayDecision']
export type Comparison = Schemas['ReplayComparison']

const path = '/api/v1/replay'

export function getReplay(signal?: AbortSignal): Promise<Replay> {
  return request<Replay>(path, { signal })
}

/** Empties the simulator and loads a recording, paused at its start. */
export async function loadRecording(name: string, body: Blob, on: { sent: (done: number, total: number) => void; signal: AbortSignal }): Promise<Replay> {
  return JSON.parse(await upload({ path: `${path}?${new URLSearchParams({ name })}`, body, type: 'application/octet-stream', ...on })) as Replay
}

export function changeReplay(change: ReplayChange): Promise<Replay> {
  return request<Replay>(path, { method: 'PATCH', body: change })
}

/** Applies the next changes that share an instant. */
export function stepReplay(): Promise<Replay> {
  return request<Replay>(`${path}/step`, { method: 'POST' })
}

export function unloadReplay(): Promise<string> {
  return requestText(path, { method: 'DELETE' })
}

export function getComparison(query: { outcome?: string; limit?: number; continue?: string }, signal?: AbortSignal): Promise<Comparison> {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value) params.set(key, String(value))
  return request<Comparison>(`${path}/comparison?${params}`, { signal })
}
