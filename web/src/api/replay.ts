// The replay of a recording: loading it, its transport, and its comparison with the recording.

import { bodyOf, client } from './client'
import type { components, operations } from './schema'
import { upload } from './upload'

type Schemas = components['schemas']
/** The loaded recording and its position. All times are on the recorded clock. */
export type Replay = Schemas['Replay']
export type ReplayChange = Schemas['ReplayControl']
export type ReplayOutcome = Schemas['ReplayOutcome']
export type ReplayDecision = Schemas['ReplayDecision']
/** Why a decision compares with the recorded one as it does, as data. */
export type ReplayReason = Schemas['ReplayReason']
export type Comparison = Schemas['ReplayComparison']

const path = '/api/v1/replay'

export function getReplay(signal?: AbortSignal): Promise<Replay> {
  return bodyOf(client.GET(path, { signal }))
}

/** Empties the simulator and loads a recording, paused at its start. */
export async function loadRecording(
  name: string,
  body: Blob,
  on: { sent: (done: number, total: number) => void; signal: AbortSignal }
): Promise<Replay> {
  return JSON.parse(
    await upload({ path: `${path}?${new URLSearchParams({ name })}`, body, type: 'application/octet-stream', ...on })
  ) as Replay
}

export function changeReplay(change: ReplayChange): Promise<Replay> {
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
): Promise<Comparison> {
  return bodyOf(client.GET(`${path}/comparison`, { params: { query }, signal }))
}
