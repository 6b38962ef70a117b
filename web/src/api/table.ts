// A live table of one kind, with kubectl's columns: listed in pages, then kept up to date by
// a watch that sends a row for each change. The watch is a request that stays open, and a
// browser opens at most six per server. Callers therefore close it while the page is hidden
// (pause) and continue from there later (resume).

import { ApiError, parseError } from './http'
import { messageOf } from './message'

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'

/** A Table of meta.k8s.io/v1, with only the fields that this module reads. */
export interface WireTable {
  metadata?: { resourceVersion?: string; continue?: string }
  rows?: unknown[] | null
}

export interface TableHandlers<T extends WireTable> {
  /** A page of a new list. The `first` one replaces all earlier rows; the `last` one completes the list. */
  page(table: T, namespace: string | undefined, first: boolean, last: boolean): void
  change(type: 'ADDED' | 'MODIFIED' | 'DELETED', table: T): void
  /** A request failed and will be retried; undefined once one succeeds. */
  error(error: ApiError | undefined): void
}

export interface TableRequest {
  /** The path of the collection, of one namespace or (undefined) of all. */
  path(namespace: string | undefined): string
  /** undefined: all namespaces, or a cluster-scoped kind. */
  namespace: string | undefined
  labelSelector: string
  /**
   * Returns all namespaces to list each of them separately, without the objects' metadata,
   * which for pods can be a hundred times as large as the cells. If it is absent or returns
   * undefined, one request lists everything, with metadata.
   */
  light?: () => Promise<readonly string[] | undefined>
}

export interface TableOptions {
  fetch?: typeof fetch
  /** The first and the longest delay before a retry, in ms; the delay doubles each time. */
  retryMs?: number
  retryMaxMs?: number
  pageSize?: number
}

export class TableFeed<T extends WireTable> {
  private abort: AbortController | undefined
  private version = ''
  private running: Promise<void> = Promise.resolve()
  private wake: (() => void) | undefined
  private readonly options: Required<TableOptions>

  constructor(
    private readonly wanted: TableRequest,
    private readonly handlers: TableHandlers<T>,
    options: TableOptions = {}
  ) {
    this.options = { fetch: (...all) => fetch(...all), retryMs: 500, retryMaxMs: 8000, pageSize: 1000, ...options }
  }

  /** Starts, or continues after pause. */
  resume(): void {
    if (this.abort) return
    const abort = new AbortController()
    this.abort = abort
    this.running = this.running.then(() => this.run(abort.signal))
  }

  /** Closes the requests. resume continues from here. */
  pause(): void {
    this.abort?.abort()
    this.abort = undefined
    this.wake?.()
  }

  retryNow(): void {
    this.wake?.()
  }

  private async run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      try {
        if (!this.version) await this.list(signal)
        this.handlers.error(undefined)
        failures = 0
        await this.watch(signal)
      } catch (error) {
        if (signal.aborted) return
        const failed = error instanceof ApiError ? error : new ApiError(messageOf(error), 0)
        // The watch may have expired, or the server may have been replaced: list again.
        this.version = ''
        if (failed.code === 410) continue
        this.handlers.error(failed)
        await this.pauseFor(Math.min(this.options.retryMaxMs, this.options.retryMs * 2 ** failures++))
      }
    }
  }

  private async list(signal: AbortSignal): Promise<void> {
    const { namespace, light } = this.wanted
    // The watch starts at the version of the first response, so it repeats changes that later
    // responses already contain.
    let version = ''
    let spaces: readonly (string | undefined)[] | undefined
    if (light && namespace !== undefined) spaces = [namespace]
    else if (light) {
      // The watch starts here, so it reports all objects of namespaces that are created later.
      const query = this.query('None')
      query.set('limit', '1')
      version =
        ((await (await this.open(`${this.wanted.path(undefined)}?${query}`, signal)).json()) as T).metadata
          ?.resourceVersion ?? ''
      spaces = await light()
    }
    let first = true
    const targets = spaces?.length ? spaces : [namespace]
    for (const [i, space] of targets.entries()) {
      let next = ''
      do {
        const query = this.query(spaces?.length ? 'None' : 'Metadata')
        query.set('limit', String(this.options.pageSize))
        if (next) query.set('continue', next)
        const response = await this.open(`${this.wanted.path(space)}?${query}`, signal)
        const table = (await response.json()) as T
        version ||= table.metadata?.resourceVersion ?? ''
        next = table.metadata?.continue ?? ''
        this.handlers.page(table, space, first, !next && i === targets.length - 1)
        first = false
      } while (next)
    }
    this.version = version
  }

  private async watch(signal: AbortSignal): Promise<void> {
    const query = this.query('Metadata')
    query.set('watch', '1')
    query.set('allowWatchBookmarks', 'true')
    query.set('resourceVersion', this.version)
    const response = await this.open(`${this.wanted.path(this.wanted.namespace)}?${query}`, signal)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    if (!reader) throw new ApiError('the watch has no body', 0)
    let rest = ''
    let events = 0
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const parts = (rest + value).split('\n')
      rest = parts.pop() ?? ''
      for (const line of parts) {
        if (line.trim()) {
          this.take(line)
          events++
        }
      }
    }
    // Without an error, a server that closes each watch immediately would be queried in a tight loop.
    if (!events) throw new ApiError('the watch ended', 410)
  }

  private take(line: string): void {
    const event = JSON.parse(line) as { type: string; object: T & { code?: number; message?: string } }
    if (event.type === 'ERROR') throw new ApiError(event.object.message ?? 'the watch failed', event.object.code ?? 500)
    this.version = event.object.metadata?.resourceVersion || this.version
    if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED')
      this.handlers.change(event.type, event.object)
  }

  private query(includeObject: string): URLSearchParams {
    const query = new URLSearchParams({ includeObject })
    if (this.wanted.labelSelector) query.set('labelSelector', this.wanted.labelSelector)
    return query
  }

  private async open(url: string, signal: AbortSignal): Promise<Response> {
    const { fetch } = this.options
    const response = await fetch(url, { headers: { Accept: accept }, signal })
    if (!response.ok) throw parseError(response.status, await response.text())
    return response
  }

  private pauseFor(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
