// The time line: what the simulator recorded of itself, its state at any moment, and undo.

import { request } from './http'
import type { ConfigurationDifference, Node, Pod } from './types'

/** An object, as far as a list of changes names it. */
export interface TimelineObject {
  apiVersion: string
  kind: string
  namespace?: string
  name: string
}

export type StepKind = 'change' | 'failure' | 'configuration' | 'reset' | 'import'

/** Something that a user did, or that failed. Its moment is the state right after it. */
export interface Step {
  moment: number
  time: string
  /** The end of a failure; absent while it lasts. */
  endTime?: string
  kind: StepKind
  verb: string
  /** Some of its objects. */
  objects: TimelineObject[]
  /** The number of all its objects. */
  count: number
  /** Who did it: web, kubectl, or another client's name. */
  by: string
  /** The revision that a configuration step applied. */
  revision?: number
  summary?: string
  /** The revision was rolled back. */
  failed?: boolean
}

export interface Bucket {
  time: string
  events: number
  scheduled: number
  unschedulable: number
}

export interface Timeline {
  /** False if the simulator records nothing. */
  recording: boolean
  start: string
  end: string
  startMoment: number
  endMoment: number
  bytes: number
  limitBytes: number
  steps: Step[]
  buckets: Bucket[]
  continue?: string
  /** Set when the steps are those of a loaded recording. */
  source?: 'replay'
}

/** The cluster at a moment. Nodes and pods have only the fields that the map reads. */
export interface Moment {
  moment: number
  time: string
  nodes: Node[]
  pods: Pod[]
  configuration?: { revision: number; document?: string }
}

export interface ChangedField {
  path: string
  from?: unknown
  to?: unknown
}

export interface TimelineDifference {
  from: { moment: number; time: string }
  to: { moment: number; time: string }
  created: TimelineObject[]
  deleted: TimelineObject[]
  changed: { object: TimelineObject; fields: ChangedField[] }[]
  bound: { pod: TimelineObject; from?: string; to?: string }[]
  configuration?: { from: number; to: number; differences: ConfigurationDifference[] }
  decisions: { scheduled: number; unschedulable: number }
  truncated?: boolean
}

/** What undo would do next. */
export interface Undo {
  /** Absent when there is nothing to undo. */
  step?: Step
  /** The state that undo restores. */
  to?: { moment: number; time: string }
  created: TimelineObject[]
  deleted: TimelineObject[]
  changed: TimelineObject[]
  /** Why nothing can be undone. */
  message?: string
}

export interface Undone {
  moment: number
  time: string
  created: TimelineObject[]
  deleted: TimelineObject[]
  changed: TimelineObject[]
  failed?: { object: TimelineObject; message: string }[]
}

const path = '/api/v1/timeline'
const as = <T>(body: unknown) => body as T

/** Absent bounds are those of the whole recording. */
export function getTimeline(query: { from?: string; to?: string; buckets?: number; limit?: number }, signal?: AbortSignal): Promise<Timeline> {
  const text = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]))
  return request(`${path}?${text}`, as<Timeline>, { signal })
}

/** The newest moment at or before a time (RFC 3339), or the one with this number. */
export function getMoment(at: string, signal?: AbortSignal): Promise<Moment> {
  return request(`${path}/moments/${encodeURIComponent(at)}`, as<Moment>, { signal })
}

export function getTimelineDifference(from: number, to: number, signal?: AbortSignal): Promise<TimelineDifference> {
  return request(`${path}/difference?from=${from}&to=${to}`, as<TimelineDifference>, { signal })
}

/** The moment that the scheduler saw when it made a decision. */
export function getMomentOfDecision(uid: string, attempt: number, signal?: AbortSignal): Promise<{ moment: number; time: string }> {
  return request(`${path}/at/${encodeURIComponent(uid)}/${attempt}`, as<{ moment: number; time: string }>, { signal })
}

export function getUndo(signal?: AbortSignal): Promise<Undo> {
  return request('/api/v1/undo', as<Undo>, { signal })
}

/** Throws ApiError 409 when another step was made since. */
export function postUndo(moment: number): Promise<Undone> {
  return request('/api/v1/undo', as<Undone>, { method: 'POST', body: { moment } })
}
