// More decisions than the socket sends: the page requests older ones, page by page. The
// responses are synthetic, because two thousand real decisions take minutes.

import { expect, test } from './simulator'

const live = 2000
const all = 3500

const summary = (n: number) => ({
  pod: { namespace: 'default', name: `pod-${n}`, uid: `uid-${n}` },
  attempt: 1,
  profile: 'default-scheduler',
  startTime: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
  durationSeconds: 0.001,
  outcome: 'scheduled',
  selectedNode: 'node-1',
  nodes: { total: 1, evaluated: 1, feasible: 1 },
})
/** Newest first, starting at the n-th newest. */
const page = (from: number, count: number) => Array.from({ length: Math.min(count, all - from) }, (_, i) => summary(all - from - i))

test('older decisions load on demand, each once', async ({ page: tab, simulator }) => {
  await tab.routeWebSocket('**/api/v1/watch', (socket) => {
    const server = socket.connectToServer()
    server.onMessage((message) => {
      const frame = JSON.parse(String(message)) as { type: string; id: string }
      if (frame.id === 'results') socket.send(JSON.stringify({ type: 'list', id: 'results', first: true, items: page(0, live) }))
      else socket.send(message)
    })
  })
  await tab.route('**/api/v1/results?*', (route) => {
    const query = new URL(route.request().url()).searchParams
    const [from, limit] = [Number(query.get('continue') ?? 0), Number(query.get('limit'))]
    const items = page(from, limit)
    return route.fulfill({ json: { items, continue: from + items.length < all ? String(from + items.length) : '' } })
  })
  await tab.goto(`${simulator.url}/decisions`)
  const rows = tab.getByRole('grid', { name: 'Decisions' })
  await expect(rows).toHaveAttribute('aria-rowcount', String(live + 1))
  const older = tab.getByRole('button', { name: 'Load older' })
  await older.click()
  await expect(rows).toHaveAttribute('aria-rowcount', String(live + 1001))
  await older.click()
  await expect(rows).toHaveAttribute('aria-rowcount', String(all + 1))
  // No older decisions are left.
  await expect(older).toBeHidden()
  await tab.getByPlaceholder('Filter by pod').fill('pod-1234')
  await expect(rows.getByRole('row', { name: /pod-1234/ })).toHaveCount(1)
})
