// The replay of a recording: loading it, its transport, its comparison with what was recorded.

import { request, requestText } from './http'
import { upload } from './upload'

export type ReplayState = 'playing' | 'paused' | 'seeking' | 'finished' | 'failed'

export interface Replay {
  name: string
  state: ReplayState
  message?: string
  source?: string
  /** RFC 3339, all three on the recorded clock. */
  start: string
  end: string
  position: string
  changes: number
  applied: number
  /** 1 is real time, 0 as fast as it can. */
  speed: number
  waitForScheduler: boolean
  /** Changes that the API server refused. */
  failed: number
  decisions: { compared: number; matching: number; different: number; pending: number }
}

export interface ReplayChange {
  state?: 'playing' | 'paused'
  speed?: number
  waitForScheduler?: boolean
  position?: string
}

export type ReplayOutcome = 'matching' | 'different' | 'pending' | 'notCompared'

export interface ReplayDecision {
  pod: { namespace: string; name: string; uid: string }
  /** When it was decided, on the recorded clock. */
  time: string
  outcome: ReplayOutcome
  recordedNode?: string
  simulatedNode?: string
  why?: string
  attempt?: number
  recordedNodeRejectedBy?: { plugin: string; reasons?: string[] }
  recordedNodeTotal?: number
  selectedNodeTotal?: number
  recordedNodeEvaluated?: boolean
  /** The recorded node is not in the recording. */
  recordedNodeMissing?: boolean
  /** Both nodes have the same total: chance decided. */
  tie?: boolean
  /** The plugin whose scores differ the most. */
  mostDifferent?: { plugin: string; recorded: number; selected: number }
}

export interface Comparison {
  compared: number
  matching: number
  different: number
  pending: number
  /** Decisions whose recorded node is not in the recording. */
  nodesMissing?: number
  items: ReplayDecision[]
  continue?: string
}

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

export async function getComparison(query: { outcome?: string; limit?: number; continue?: string }, signal?: AbortSignal): Promise<Comparison> {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value) params.set(key, String(value))
  const page = await request<Comparison>(`${path}/comparison?${params}`, { signal })
  return { ...page, items: page.items ?? [] }
}
