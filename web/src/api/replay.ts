// The replay of a recording: loading it, its transport, and its comparison with the recording.

import { bodyOf, client } from './client'
import type { Replay, ReplayComparison, ReplayControl, operations } from './schema'
import { upload } from './upload'

export type {
  Replay,
  ReplayControl as ReplayChange,
  ReplayOutcome,
  ReplayDecision,
  ReplayReason,
  ReplayComparison as Comparison,
} from './schema'

const path = '/api/v1/replay'

export function getReplay(signal?: AbortSignal): Promise<Replay> {
  return bodyOf(client.GET(path, { signal }))
}

/** Empties this page's simulator, or the one at `at`, and loads a recording, paused at its start. */
export async function loadRecording(
  name: string,
  body: Blob,
  on: { at?: string; sent: (done: number, total: number) => void; signal: AbortSignal }
): Promise<Replay> {
  return JSON.parse(
    await upload({ path: `${path}?${new URLSearchParams({ name })}`, body, type: 'application/octet-stream', ...on })
  ) as Replay
}

export function changeReplay(change: ReplayControl): Promise<Replay> {
  return bodyOf(client.PATCH(path, { body: change }))
}

/** Applies the next changes, which are all those with the same recorded time. */
export function stepReplay(): Promise<Replay> {
  return bodyOf(client.POST(`${path}/step`))
}

export async function unloadReplay(): Promise<void> {
  await client.DELETE(path)
}

/** Absent fields match everything. */
export function getComparison(
  query: operations['getReplayComparison']['parameters']['query'],
  signal?: AbortSignal
): Promise<ReplayComparison> {
  return bodyOf(client.GET(`${path}/comparison`, { params: { query }, signal }))
}
