// The watch client: one WebSocket carries every subscription. It reconnects and subscribes
// again by itself, and reports the state of the connection.

import { based } from './base'
import type { SubscribeTopicFrame } from './schema'

/** The subject of a subscription: a kind of the cluster, or a topic of the simulator. */
export type Target =
  | { resource: { group: string; version: string; resource: string }; namespace?: string }
  | { topic: SubscribeTopicFrame['topic'] }

export interface ListFrame<T = unknown> {
  type: 'list'
  id: string
  items: T[]
  /** A new list starts: earlier items are void. */
  first?: boolean
  /** Another frame of this list follows. */
  more?: boolean
}

export interface WatchEvent<T = unknown> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  object: T
}

export interface EventsFrame<T = unknown> {
  type: 'events'
  id: string
  events: WatchEvent<T>[]
}

export type Frame<T = unknown> = ListFrame<T> | EventsFrame<T>

export interface ErrorFrame {
  type: 'error'
  id?: string
  message: string
  code?: number
}

/**
 * connecting: the first attempt. stale: open, but the server has not sent anything since
 * `since` (ms). retrying: lost; the next attempt is at `at` (ms). closed: stop() was called.
 */
export type ConnectionState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'stale'; since: number }
  | { kind: 'retrying'; attempt: number; at: number }
  | { kind: 'closed' }

export interface Handlers<T> {
  frame(frame: Frame<T>): void
  /** The server ended the subscription. The client subscribes again unless the error is permanent. */
  error?(error: ErrorFrame): void
}

/** The part of WebSocket that the client uses; tests provide their own. */
export interface Socket {
  readyState: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(data: string): void
  close(): void
}

export interface WatchOptions {
  connect: () => Socket
  now?: () => number
  random?: () => number
  /** The delay between attempts: base × 2^n, at most max, half of it random. */
  baseMs?: number
  maxMs?: number
  /** The client gives up an attempt that takes longer to open. */
  openTimeoutMs?: number
  /** The client sends a heartbeat after this long without a frame. */
  quietMs?: number
  /**
   * Without a response to the heartbeat for this long, the connection is stale; after three times
   * as long, the client gives it up.
   */
  answerMs?: number
}

interface Subscription {
  target: Target
  handlers: Handlers<unknown>
  retry: ReturnType<typeof setTimeout> | undefined
  failures: number
}

const OPEN = 1
/** A subscription to which the server responds with a short list. */
const heartbeat = { id: 'heartbeat', topic: 'status' }

export class WatchClient {
  private socket: Socket | undefined
  private subscriptions = new Map<string, Subscription>()
  private listeners = new Set<(state: ConnectionState) => void>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private failures = 0
  private current: ConnectionState = { kind: 'closed' }
  /** The time of the last frame, and of a heartbeat without a response yet (ms). */
  private heard = 0
  private asked: number | undefined
  private pulse: ReturnType<typeof setInterval> | undefined
  private readonly options: Required<WatchOptions>

  constructor(options: WatchOptions) {
    this.options = {
      now: Date.now,
      random: Math.random,
      baseMs: 250,
      maxMs: 8000,
      openTimeoutMs: 10_000,
      quietMs: 10_000,
      answerMs: 4000,
      ...options,
    }
  }

  get state(): ConnectionState {
    return this.current
  }

  /** The time of the last frame (ms); 0 before the first. */
  get lastHeard(): number {
    return this.heard
  }

  /** Calls listener now and on each change of the state, until the returned function is called. */
  observe(listener: (state: ConnectionState) => void): () => void {
    this.listeners.add(listener)
    listener(this.current)
    return () => this.listeners.delete(listener)
  }

  /** Opens the socket unless it is already open or opening. */
  start(): void {
    if (this.current.kind !== 'closed') return
    this.failures = 0
    this.set({ kind: 'connecting' })
    this.open()
  }

  /** Closes the socket for good; start opens it again. */
  stop(): void {
    clearTimeout(this.timer)
    clearInterval(this.pulse)
    const socket = this.socket
    this.socket = undefined
    this.set({ kind: 'closed' })
    socket?.close()
  }

  retryNow(): void {
    if (this.current.kind !== 'retrying') return
    clearTimeout(this.timer)
    this.open()
  }

  /** Subscribes under an id that the caller chooses. A subscription with the same id is replaced. */
  subscribe<T>(id: string, target: Target, handlers: Handlers<T>): () => void {
    this.drop(id)
    const subscription: Subscription = {
      target,
      handlers: handlers as Handlers<unknown>,
      retry: undefined,
      failures: 0,
    }
    this.subscriptions.set(id, subscription)
    this.ask(id, subscription)
    return () => {
      if (this.subscriptions.get(id) === subscription) this.drop(id)
    }
  }

  private drop(id: string): void {
    const subscription = this.subscriptions.get(id)
    if (!subscription) return
    clearTimeout(subscription.retry)
    this.subscriptions.delete(id)
    this.send({ type: 'unsubscribe', id })
  }

  private ask(id: string, subscription: Subscription): void {
    clearTimeout(subscription.retry)
    this.send({ type: 'subscribe', id, ...subscription.target })
  }

  private send(message: object): void {
    if (this.socket?.readyState === OPEN) this.socket.send(JSON.stringify(message))
  }

  private open(): void {
    let socket: Socket
    try {
      socket = this.options.connect()
    } catch {
      this.lost()
      return
    }
    this.socket = socket
    // Safari and proxies can leave an attempt hanging for minutes.
    this.timer = setTimeout(() => this.abandon(socket), this.options.openTimeoutMs)
    socket.onopen = () => {
      if (this.socket !== socket) return
      clearTimeout(this.timer)
      this.failures = 0
      this.hear()
      this.pulse = setInterval(() => this.listen(socket), Math.min(1000, this.options.answerMs))
      this.set({ kind: 'live' })
      for (const [id, subscription] of this.subscriptions) this.ask(id, subscription)
    }
    socket.onmessage = (event) => {
      if (this.socket === socket) this.receive(event.data)
    }
    socket.onclose = () => {
      if (this.socket === socket) this.lost()
    }
    socket.onerror = null
  }

  private hear(): void {
    this.heard = this.options.now()
    if (this.asked !== undefined) this.send({ type: 'unsubscribe', id: heartbeat.id })
    this.asked = undefined
    if (this.current.kind === 'stale') this.set({ kind: 'live' })
  }

  /** Sends a heartbeat after silence, because a server that hangs keeps its sockets open. */
  private listen(socket: Socket): void {
    if (this.socket !== socket) return
    const { now, quietMs, answerMs } = this.options
    if (this.asked === undefined) {
      if (now() - this.heard < quietMs) return
      this.asked = now()
      this.send({ type: 'subscribe', ...heartbeat })
      return
    }
    const waited = now() - this.asked
    if (waited >= 3 * answerMs) this.abandon(socket)
    else if (waited >= answerMs && this.current.kind === 'live') this.set({ kind: 'stale', since: this.heard })
  }

  private abandon(socket: Socket): void {
    if (this.socket !== socket) return
    this.lost()
    socket.close()
  }

  private lost(): void {
    clearTimeout(this.timer)
    clearInterval(this.pulse)
    this.asked = undefined
    this.socket = undefined
    for (const subscription of this.subscriptions.values()) clearTimeout(subscription.retry)
    const wait = this.backoff(this.failures++)
    this.set({ kind: 'retrying', attempt: this.failures, at: this.options.now() + wait })
    this.timer = setTimeout(() => this.open(), wait)
  }

  private backoff(failures: number): number {
    const full = Math.min(this.options.maxMs, this.options.baseMs * 2 ** failures)
    return Math.round(full / 2 + (full / 2) * this.options.random())
  }

  private receive(data: unknown): void {
    const frame = parseFrame(data)
    this.hear()
    if (!frame || frame.id === heartbeat.id) return
    if (frame.type === 'error') {
      this.fail(frame)
      return
    }
    const subscription = this.subscriptions.get(frame.id)
    if (!subscription) return
    subscription.failures = 0
    subscription.handlers.frame(frame)
  }

  private fail(frame: ErrorFrame): void {
    const id = frame.id
    const subscription = id === undefined ? undefined : this.subscriptions.get(id)
    if (id === undefined || !subscription) {
      console.warn('watch: the server did not understand a request:', frame.message)
      return
    }
    subscription.handlers.error?.(frame)
    // A kind that does not exist, a bad request and a topic that the server does not support
    // (501) are permanent until the next connection.
    const code = frame.code ?? 500
    if (code === 501 || (code >= 400 && code < 500 && code !== 408 && code !== 410 && code !== 429)) return
    subscription.retry = setTimeout(
      () => this.ask(id, subscription),
      this.backoff(Math.min(subscription.failures++, 4))
    )
  }

  private set(state: ConnectionState): void {
    this.current = state
    for (const listener of this.listeners) listener(state)
  }
}

/** Parses a frame; undefined if data is not one. */
function parseFrame(data: unknown): Frame | ErrorFrame | undefined {
  if (typeof data !== 'string') return undefined
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const frame = value as Record<string, unknown>
  const id = typeof frame.id === 'string' ? frame.id : undefined
  switch (frame.type) {
    case 'list':
      if (id === undefined) return undefined
      return {
        type: 'list',
        id,
        items: Array.isArray(frame.items) ? frame.items : [],
        first: frame.first === true,
        more: frame.more === true,
      }
    case 'events':
      if (id === undefined) return undefined
      return { type: 'events', id, events: Array.isArray(frame.events) ? (frame.events as WatchEvent[]) : [] }
    case 'error':
      return {
        type: 'error',
        ...(id === undefined ? {} : { id }),
        message: typeof frame.message === 'string' ? frame.message : '',
        ...(typeof frame.code === 'number' ? { code: frame.code } : {}),
      }
    default:
      return undefined
  }
}

export function watchURL(location: { protocol: string; host: string }): string {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${based('/api/v1/watch')}`
}
