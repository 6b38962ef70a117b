// The time line: what the simulator recorded of itself, its state at any moment, and undo.

import { bodyOf, client } from './client'
import type {
  TimeLine,
  TimeLineDifference,
  TimeLineMoment,
  TimeLinePoint,
  Undo,
  Undone,
  Usage,
  operations,
} from './schema'
import type { Node, Pod } from './types'

export type {
  TimeLine as Timeline,
  TimeLineStep as Step,
  TimeLineBucket as Bucket,
  TimeLineObject as TimelineObject,
  TimeLineDifference as TimelineDifference,
  Undo,
  Undone,
  Usage,
} from './schema'

/** The cluster at a moment. Nodes and pods have only the fields that a map reads. */
export type Moment = Omit<TimeLineMoment, 'nodes' | 'pods'> & { nodes: Node[]; pods: Pod[] }

const path = '/api/v1/timeline'

/** Absent bounds are those of the whole recording. */
export function getTimeline(
  query: NonNullable<operations['getTimeLine']['parameters']['query']>,
  signal?: AbortSignal
): Promise<TimeLine> {
  return bodyOf(client.GET(path, { params: { query }, signal }))
}

/** Samples of a part of the recording, oldest first: at round times, and at its ends. */
export async function getUsage(
  query: NonNullable<operations['getUsage']['parameters']['query']>,
  signal?: AbortSignal
): Promise<Usage[]> {
  return (await bodyOf(client.GET(`${path}/usage`, { params: { query }, signal }))).items
}

/** The newest moment at or before a time (RFC 3339), or the one with this number. */
export async function getMoment(moment: string, signal?: AbortSignal): Promise<Moment> {
  return (await bodyOf(
    client.GET(`${path}/moments/{moment}`, { params: { path: { moment } }, signal })
  )) as unknown as Moment
}

/** Of two times, of which `from` must not be later than `to`. */
export function getTimelineDifference(from: string, to: string, signal?: AbortSignal): Promise<TimeLineDifference> {
  return bodyOf(client.GET(`${path}/difference`, { params: { query: { from, to } }, signal }))
}

/** The moment that the scheduler saw when it made a decision. */
export function getMomentOfDecision(uid: string, attempt: number, signal?: AbortSignal): Promise<TimeLinePoint> {
  return bodyOf(client.GET(`${path}/at/{uid}/{attempt}`, { params: { path: { uid, attempt } }, signal }))
}

export function getUndo(signal?: AbortSignal): Promise<Undo> {
  return bodyOf(client.GET('/api/v1/undo', { signal }))
}

/** Throws ApiError 409 when another step was made since. */
export function postUndo(moment: number): Promise<Undone> {
  return bodyOf(client.POST('/api/v1/undo', { body: { moment } }))
}
