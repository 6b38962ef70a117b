// The time line: what the simulator recorded of itself, its state at any moment, and undo.

import { bodyOf, client } from './client'
import type { components, operations } from './schema'
import type { Node, Pod } from './types'

type Schemas = components['schemas']
export type Timeline = Schemas['TimeLine']
/** Something that a user did, or that failed. Its moment is the state right after it. */
export type Step = Schemas['TimeLineStep']
export type Bucket = Schemas['TimeLineBucket']
/** An object, as far as a list of changes names it. */
export type TimelineObject = Schemas['TimeLineObject']
/** The cluster at a moment. Nodes and pods have only the fields that a map reads. */
export type Moment = Omit<Schemas['TimeLineMoment'], 'nodes' | 'pods'> & { nodes: Node[]; pods: Pod[] }
export type TimelineDifference = Schemas['TimeLineDifference']
/** What undo would do next; without a step there is nothing to undo. */
export type Undo = Schemas['Undo']
export type Undone = Schemas['Undone']

const path = '/api/v1/timeline'

/** Absent bounds are those of the whole recording. */
export function getTimeline(
  query: NonNullable<operations['getTimeLine']['parameters']['query']>,
  signal?: AbortSignal
): Promise<Timeline> {
  return bodyOf(client.GET(path, { params: { query }, signal }))
}

/** The newest moment at or before a time (RFC 3339), or the one with this number. */
export async function getMoment(moment: string, signal?: AbortSignal): Promise<Moment> {
  return (await bodyOf(
    client.GET(`${path}/moments/{moment}`, { params: { path: { moment } }, signal })
  )) as unknown as Moment
}

/** `from` must not be later than `to`. */
export function getTimelineDifference(from: number, to: number, signal?: AbortSignal): Promise<TimelineDifference> {
  return bodyOf(client.GET(`${path}/difference`, { params: { query: { from: String(from), to: String(to) } }, signal }))
}

/** The moment that the scheduler saw when it made a decision. */
export function getMomentOfDecision(
  uid: string,
  attempt: number,
  signal?: AbortSignal
): Promise<Schemas['TimeLinePoint']> {
  return bodyOf(client.GET(`${path}/at/{uid}/{attempt}`, { params: { path: { uid, attempt } }, signal }))
}

export function getUndo(signal?: AbortSignal): Promise<Undo> {
  return bodyOf(client.GET('/api/v1/undo', { signal }))
}

/** Throws ApiError 409 when another step was made since. */
export function postUndo(moment: number): Promise<Undone> {
  return bodyOf(client.POST('/api/v1/undo', { body: { moment } }))
}
