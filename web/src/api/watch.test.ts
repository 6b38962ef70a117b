import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WatchClient, watchURL, type Frame, type Socket } from './watch'

class FakeSocket implements Socket {
  readyState = 0
  sent: Record<string, unknown>[] = []
  onopen: Socket['onopen'] = null
  onmessage: Socket['onmessage'] = null
  onclose: Socket['onclose'] = null
  onerror: Socket['onerror'] = null
  send(data: string) {
    this.sent.push(JSON.parse(data) as Record<string, unknown>)
  }
  close() {
    this.readyState = 3
    this.onclose?.(undefined as never)
  }
  open() {
    this.readyState = 1
    this.onopen?.(undefined as never)
  }
  receive(value: unknown) {
    this.onmessage?.({ data: typeof value === 'string' ? value : JSON.stringify(value) })
  }
}

let sockets: FakeSocket[]
let client: WatchClient
const last = () => {
  const socket = sockets.at(-1)
  if (!socket) throw new Error('no socket')
  return socket
}
const asked = (socket: FakeSocket) => socket.sent.map((m) => `${m.type} ${m.id}`)
const pods = { resource: { group: '', version: 'v1', resource: 'pods' } }

beforeEach(() => {
  vi.useFakeTimers()
  sockets = []
  client = new WatchClient({
    connect: () => {
      const socket = new FakeSocket()
      sockets.push(socket)
      return socket
    },
    random: () => 1,
    baseMs: 100,
    maxMs: 1000,
    openTimeoutMs: 5000,
  })
})
afterEach(() => {
  client.stop()
  vi.useRealTimers()
})

describe('a quiet connection', () => {
  const start = () => {
    client.start()
    last().open()
  }
  it('gets a heartbeat, and stays live if the server responds', () => {
    start()
    vi.advanceTimersByTime(10_500)
    expect(asked(last())).toEqual(['subscribe heartbeat'])
    last().receive({ type: 'list', id: 'heartbeat', items: [{}], first: true })
    vi.advanceTimersByTime(9000)
    expect(client.state.kind).toBe('live')
    expect(asked(last())).toEqual(['subscribe heartbeat', 'unsubscribe heartbeat'])
  })
  it('is stale without a response, and live again when a frame arrives', () => {
    start()
    const began = Date.now()
    vi.advanceTimersByTime(15_500)
    expect(client.state).toEqual({ kind: 'stale', since: began })
    last().receive({ type: 'list', id: 'heartbeat', items: [] })
    expect(client.state.kind).toBe('live')
  })
  it('is given up eventually', () => {
    start()
    vi.advanceTimersByTime(23_500)
    expect(client.state.kind).toBe('retrying')
    expect(sockets[0]?.readyState).toBe(3)
  })
  it('gets no heartbeat while frames arrive', () => {
    start()
    for (let i = 0; i < 30; i++) {
      vi.advanceTimersByTime(1000)
      last().receive({ type: 'events', id: 'pods', events: [] })
    }
    expect(asked(last())).toEqual([])
  })
})

describe('WatchClient', () => {
  it('reports its state, and backs off up to a limit', () => {
    const states: string[] = []
    client.observe((s) => states.push(s.kind === 'retrying' ? `retrying ${s.attempt} in ${s.at - Date.now()}` : s.kind))
    client.start()
    for (let i = 0; i < 6; i++) {
      last().close()
      vi.advanceTimersByTime(1000)
    }
    last().open()
    client.stop()
    expect(states).toEqual([
      'closed',
      'connecting',
      'retrying 1 in 100',
      'retrying 2 in 200',
      'retrying 3 in 400',
      'retrying 4 in 800',
      'retrying 5 in 1000',
      'retrying 6 in 1000',
      'live',
      'closed',
    ])
  })

  it('subscribes when it opens and after a reconnect, except to dropped subscriptions', () => {
    client.start()
    client.subscribe('pods', pods, { frame: () => {} })
    const stop = client.subscribe('results', { topic: 'results' }, { frame: () => {} })
    last().open()
    expect(asked(last())).toEqual(['subscribe pods', 'subscribe results'])
    expect(last().sent[0]).toEqual({ type: 'subscribe', id: 'pods', resource: pods.resource })
    stop()
    expect(asked(last()).at(-1)).toBe('unsubscribe results')
    last().close()
    vi.advanceTimersByTime(100)
    last().open()
    expect(asked(last())).toEqual(['subscribe pods'])
  })

  it('passes frames to their subscribers and ignores invalid ones', () => {
    const frames: Frame[] = []
    client.subscribe('pods', pods, { frame: (f) => frames.push(f) })
    client.start()
    last().open()
    for (const value of [
      '{',
      '7',
      'null',
      { type: 'what' },
      { type: 'list' },
      { type: 'list', id: 'other', items: [1] },
    ])
      last().receive(value)
    last().receive({ type: 'list', id: 'pods', items: [{ a: 1 }], first: true })
    last().receive({ type: 'events', id: 'pods', events: [{ type: 'ADDED', object: { a: 2 } }] })
    expect(frames).toEqual([
      { type: 'list', id: 'pods', items: [{ a: 1 }], first: true, more: false },
      { type: 'events', id: 'pods', events: [{ type: 'ADDED', object: { a: 2 } }] },
    ])
  })

  it('retries a subscription after a temporary error, but not after a permanent one', () => {
    const errors: (number | undefined)[] = []
    for (const id of ['starting', 'gone', 'unknown'])
      client.subscribe(id, pods, { frame: () => {}, error: (e) => errors.push(e.code) })
    client.start()
    last().open()
    last().receive({ type: 'error', id: 'starting', message: 'the control plane is starting', code: 503 })
    last().receive({ type: 'error', id: 'gone', message: 'not found', code: 404 })
    last().receive({
      type: 'error',
      id: 'unknown',
      message: 'the simulator does not know its scheduling queue',
      code: 501,
    })
    vi.advanceTimersByTime(5000)
    expect(errors).toEqual([503, 404, 501])
    expect(asked(last())).toEqual(['subscribe starting', 'subscribe gone', 'subscribe unknown', 'subscribe starting'])
  })

  it('gives up an attempt that does not open', () => {
    client.start()
    vi.advanceTimersByTime(5000)
    expect(client.state.kind).toBe('retrying')
    vi.advanceTimersByTime(100)
    expect(sockets).toHaveLength(2)
  })

  it('retries immediately on request', () => {
    client.start()
    last().close()
    client.retryNow()
    expect(sockets).toHaveLength(2)
    last().open()
    vi.advanceTimersByTime(10_000)
    expect(sockets).toHaveLength(2)
  })

  it('stays closed after stop', () => {
    client.start()
    last().open()
    client.stop()
    vi.advanceTimersByTime(60_000)
    expect([sockets.length, client.state.kind]).toEqual([1, 'closed'])
  })
})

it('uses the page’s own server', () => {
  expect(watchURL({ protocol: 'http:', host: '127.0.0.1:1212' })).toBe('ws://127.0.0.1:1212/api/v1/watch')
  expect(watchURL({ protocol: 'https:', host: 'x' })).toBe('wss://x/api/v1/watch')
})
