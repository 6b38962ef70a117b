// The session schedulers and the flow scheduler: their switch, records, configurations and comparisons.

import { bodyOf, client } from './client'
import type { FlowComparison, FlowRound, Session, SessionConfiguration, SessionList, SessionSettings } from './types'

/** The settings, and the latest records of a kind, newest first. */
export const listSessions = (kind: 'session' | 'round', signal?: AbortSignal): Promise<SessionList> =>
  bodyOf(client.GET('/api/v1/sessions', { params: { query: { kind } }, signal }))

/** Turns the schedulers on or off, or changes the settings of the flow scheduler. */
export const changeSessions = (settings: SessionSettings): Promise<SessionList> =>
  bodyOf(client.PATCH('/api/v1/sessions', { body: settings }))

const record = (number: number, signal?: AbortSignal) =>
  bodyOf(client.GET('/api/v1/sessions/{number}', { params: { path: { number } }, signal }))

export async function getSession(number: number, signal?: AbortSignal): Promise<Session | undefined> {
  const found = await record(number, signal)
  return 'queues' in found ? found : undefined
}

export async function getRound(number: number, signal?: AbortSignal): Promise<FlowRound | undefined> {
  const found = await record(number, signal)
  return 'placements' in found ? found : undefined
}

/**
 * Applies a document to kube-batch or volcano. Throws an ApiError with the document's problems if
 * it cannot be applied.
 */
export const applySessionConfiguration = (rules: string, document: string): Promise<SessionConfiguration> =>
  bodyOf(
    client.PUT('/api/v1/sessions/configuration/{rules}', {
      params: { path: { rules: rules as 'volcano' } },
      headers: { 'Content-Type': 'application/yaml' },
      bodySerializer: (text: unknown) => String(text),
      body: document,
    })
  )

/** Prices the placement of a scheduler's pods by a cost model, beside the least possible cost. */
export const compareFlow = (model: string, scheduler: string, signal?: AbortSignal): Promise<FlowComparison> =>
  bodyOf(client.GET('/api/v1/flow/comparison', { params: { query: { model, scheduler } }, signal }))
