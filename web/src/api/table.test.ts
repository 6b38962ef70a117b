import { afterEach, describe, expect, it, vi } from 'vitest'
import { TableFeed, type TableRequest, type WireTable } from './table'

interface Table extends WireTable {
  rows?: string[]
}
type Answer = { status?: number; body: unknown } | { lines: unknown[]; open?: boolean }

/** A server that responds to each request with the next of the prepared responses. */
class FakeServer {
  asked: string[] = []
  constructor(private answers: Answer[]) {}
  fetch = (async (url: string, { signal }: { signal: AbortSignal }) => {
    this.asked.push(decodeURIComponent(url.replace(/^\/x/, '')))
    const answer = this.answers.shift()
    if (!answer)
      return new Promise((_, fail) => signal.addEventListener('abort', () => fail(new DOMException('', 'AbortError'))))
    if ('body' in answer) return new Response(JSON.stringify(answer.body), { status: answer.status ?? 200 })
    const stream = new ReadableStream({
      start(controller) {
        for (const line of answer.lines) controller.enqueue(new TextEncoder().encode(`${JSON.stringify(line)}\n`))
        if (!answer.open) controller.close()
        signal.addEventListener('abort', () => answer.open && controller.error(new DOMException('', 'AbortError')))
      },
    })
    return new Response(stream)
  }) as unknown as typeof fetch
}

const feeds: TableFeed<Table>[] = []
function follow(server: FakeServer, wanted: Partial<TableRequest> = {}) {
  const log: string[] = []
  const feed = new TableFeed<Table>(
    {
      path: (namespace) => `/x${namespace ? `/${namespace}` : ''}`,
      namespace: undefined,
      labelSelector: '',
      ...wanted,
    },
    {
      page: (table, namespace, first, last) =>
        log.push(`page ${namespace ?? '*'} ${table.rows?.join() ?? ''}${first ? ' first' : ''}${last ? ' last' : ''}`),
      change: (type, table) => log.push(`${type} ${table.rows?.join() ?? ''}`),
      error: (error) => log.push(error ? `error ${error.message}` : 'well'),
    },
    { fetch: server.fetch, retryMs: 1, retryMaxMs: 1 }
  )
  feeds.push(feed)
  feed.resume()
  return { log, feed }
}
const list = (rows: string, version: string, next = ''): Answer => ({
  body: { metadata: { resourceVersion: version, continue: next }, rows: [rows] },
})
const event = (type: string, rows: string, version: string) => ({
  type,
  object: { metadata: { resourceVersion: version }, rows: [rows] },
})

afterEach(() => {
  for (const feed of feeds.splice(0)) feed.pause()
})

describe('TableFeed', () => {
  it('lists in pages, then watches from there', async () => {
    const server = new FakeServer([
      list('a', '5', 'next'),
      list('b', '5'),
      { lines: [event('ADDED', 'c', '6')], open: true },
    ])
    const { log } = follow(server)
    await vi.waitFor(() => expect(log).toEqual(['page * a first', 'page * b last', 'well', 'ADDED c']))
    expect(server.asked).toEqual([
      '?includeObject=Metadata&limit=1000',
      '?includeObject=Metadata&limit=1000&continue=next',
      '?includeObject=Metadata&watch=1&allowWatchBookmarks=true&resourceVersion=5',
    ])
  })
  it('continues after a watch that ended, from the last version, including bookmarks', async () => {
    const server = new FakeServer([
      list('a', '5'),
      { lines: [event('MODIFIED', 'b', '6'), event('BOOKMARK', '', '9')] },
      { lines: [], open: true },
    ])
    const { log } = follow(server)
    await vi.waitFor(() => expect(server.asked).toHaveLength(3))
    expect(server.asked[2]).toContain('resourceVersion=9')
    expect(log.filter((l) => l.startsWith('MODIFIED'))).toHaveLength(1)
  })
  it('lists again if the version has expired', async () => {
    const gone = { type: 'ERROR', object: { code: 410, message: 'too old' } }
    const { log } = follow(
      new FakeServer([list('a', '5'), { lines: [gone] }, list('b', '8'), { lines: [], open: true }])
    )
    await vi.waitFor(() => expect(log).toContain('page * b first last'))
    expect(log.filter((l) => l.startsWith('error'))).toEqual([])
  })
  it('reports errors, and when they are over', async () => {
    const { log } = follow(
      new FakeServer([
        { status: 400, body: { kind: 'Status', message: 'bad selector' } },
        list('a', '5'),
        { lines: [], open: true },
      ]),
      { labelSelector: '!!' }
    )
    await vi.waitFor(() => expect(log).toEqual(['error bad selector', 'page * a first last', 'well']))
  })
  it('continues after a pause without listing', async () => {
    const server = new FakeServer([
      list('a', '5'),
      { lines: [event('ADDED', 'b', '7')], open: true },
      { lines: [], open: true },
    ])
    const { log, feed } = follow(server)
    await vi.waitFor(() => expect(log).toContain('ADDED b'))
    feed.pause()
    feed.resume()
    await vi.waitFor(() => expect(server.asked).toHaveLength(3))
    expect(server.asked[2]).toContain('watch=1')
    expect(server.asked[2]).toContain('resourceVersion=7')
  })
  it('lists light kinds by namespace, without metadata, and watches from before the first list', async () => {
    const server = new FakeServer([list('', '3'), list('a', '5'), list('b', '6'), { lines: [], open: true }])
    const { log } = follow(server, { light: async () => ['shop', 'default'] })
    await vi.waitFor(() => expect(server.asked).toHaveLength(4))
    expect(log).toEqual(['page shop a first', 'page default b last', 'well'])
    expect(server.asked).toEqual([
      '?includeObject=None&limit=1',
      '/shop?includeObject=None&limit=1000',
      '/default?includeObject=None&limit=1000',
      '?includeObject=Metadata&watch=1&allowWatchBookmarks=true&resourceVersion=3',
    ])
  })
})
