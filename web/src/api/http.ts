// Requests and their errors. client.ts calls the simulator's own routes; request() is for
// routes that its OpenAPI document does not describe.

import { based } from './base'
import { messageOf } from './message'
import type { ErrorDetail, StatusCause } from './types'

export class ApiError extends Error {
  constructor(
    message: string,
    /** The HTTP status; 0 without a response. */
    readonly code: number,
    /** One line for each part of the reason, if the server gave several. */
    readonly details: string[] = [],
    /** The API server's causes, with field paths. */
    readonly causes: StatusCause[] = [],
    /** metav1.Status's reason, such as Conflict or NotFound. */
    readonly reason = '',
    /** The details with their positions in the submitted document, as far as the simulator knows them. */
    readonly problems: ErrorDetail[] = [],
    /** When the server wants to be asked again (s), if it says so. */
    readonly retryAfter?: number
  ) {
    super(message)
    this.name = 'ApiError'
  }

  /** The server is gone or still starting. */
  get unavailable(): boolean {
    return this.code === 0 || this.code === 503
  }
}

interface Options {
  method?: string
  body?: unknown
  /** The media type of a body that is text and sent unchanged. */
  type?: string
  accept?: string
  signal?: AbortSignal
  /** What newAction returned, for a request that changes something. */
  action?: string
}

/**
 * Names an action of the user, of which each request is a part: the time line shows them as one
 * step. The verb is what the user does; '' if the requests say it.
 */
export const newAction = (verb: string): string => `${verb}/${Date.now()}-${Math.random()}`

/**
 * Fetches path of this page's simulator and parses its JSON with read. Throws ApiError, or
 * AbortError when the request is aborted.
 */
export async function request<T>(
  path: string,
  read: (body: unknown) => T,
  { method = 'GET', body, type, accept = 'application/json', signal, action }: Options = {}
): Promise<T> {
  const headers: Record<string, string> = { Accept: accept }
  if (action) headers['Kube-Scheduler-Simulator-Action'] = action
  const init: RequestInit = { method, headers }
  if (signal) init.signal = signal
  if (body !== undefined) {
    headers['Content-Type'] = type ?? 'application/json'
    init.body = type === undefined ? JSON.stringify(body) : String(body)
  }
  let response: Response
  try {
    response = await fetch(based(path), init)
  } catch (error) {
    throw noAnswer(error)
  }
  if (!response.ok) throw parseError(response.status, await response.text().catch(() => ''))
  return read(await response.json())
}

/** A `read` for responses whose body does not matter. */
export const ignored = (): void => undefined

/** The error for a request without a response; an AbortError passes through unchanged. */
export function noAnswer(error: unknown): Error {
  if (error instanceof DOMException && error.name === 'AbortError') return error
  return new ApiError(messageOf(error), 0)
}

/**
 * Parses an error response: ours ({message, details}) or a Kubernetes Status. retryAfter is the
 * header's value.
 */
export function parseError(code: number, text: string, retryAfter?: string | null): ApiError {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return new ApiError(text.trim() || `HTTP ${code}`, code)
  }
  if (!isRecord(body)) return new ApiError(`HTTP ${code}`, code)
  const message = typeof body.message === 'string' && body.message ? body.message : `HTTP ${code}`
  if (body.kind === 'Status') {
    const details = isRecord(body.details) ? body.details : {}
    const causes = Array.isArray(details.causes) ? details.causes.filter(isRecord).map(readCause) : []
    return new ApiError(message, code, [], causes, typeof body.reason === 'string' ? body.reason : '')
  }
  const details = Array.isArray(body.details) ? body.details.map(readDetail) : []
  // The header may also hold a date, which our server does not send.
  const seconds = retryAfter && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined
  return new ApiError(message, code, details, [], '', readProblems(body.details), seconds)
}

function readProblems(value: unknown): ErrorDetail[] {
  if (!Array.isArray(value)) return []
  return value.filter(isRecord).flatMap((detail): ErrorDetail[] => {
    if (typeof detail.message !== 'string') return []
    const out: ErrorDetail = { message: detail.message }
    if (typeof detail.file === 'string') out.file = detail.file
    if (typeof detail.field === 'string') out.field = detail.field
    if (typeof detail.line === 'number') out.line = detail.line
    if (typeof detail.column === 'number') out.column = detail.column
    return [out]
  })
}

function readDetail(value: unknown): string {
  if (typeof value === 'string') return value
  if (!isRecord(value) || typeof value.message !== 'string') return JSON.stringify(value)
  return typeof value.field === 'string' && value.field ? `${value.field}: ${value.message}` : value.message
}

function readCause(value: Record<string, unknown>): StatusCause {
  const cause: StatusCause = {}
  if (typeof value.field === 'string') cause.field = value.field
  if (typeof value.message === 'string') cause.message = value.message
  if (typeof value.reason === 'string') cause.reason = value.reason
  return cause
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
