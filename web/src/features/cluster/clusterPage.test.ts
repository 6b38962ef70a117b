import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import * as simulator from '@/api/simulator'
import type { Node, Pod, Summary } from '@/api/types'
import { sampleCycle } from '@/features/decision/model/testing'
import { node, pod, requests } from '@/kubernetes/testing'
import { zoneLabel } from '@/kubernetes/cluster'
import { cluster } from '@/live/cluster'
import { model, nodes, pods, results } from '@/live/watched'
import { notices } from '@/ui/notices'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import * as store from './store/sample'
import { useNodeArrangement, type NodeArrangement } from './useNodeArrangement'
import { useSampleCluster } from './useSampleCluster'
import { useShownDecision, type ShownDecision } from './useShownDecision'

mockFunctions(store)
const server = mockFunctions(simulator)

/** Publishes objects as the watch does. */
function show(all: readonly Node[], running: readonly Pod[] = []) {
  for (const name of nodes.value.items.keys()) model.setNode(name, undefined)
  for (const key of pods.value.items.keys()) model.setPod(key, undefined)
  for (const one of all) model.setNode(one.metadata.name, one)
  for (const one of running) model.setPod(`${one.metadata.namespace}/${one.metadata.name}`, one)
  nodes.value = { items: new Map(all.map((n) => [n.metadata.name, n])), synced: true, error: undefined }
  pods.value = {
    items: new Map(running.map((p) => [`${p.metadata.namespace}/${p.metadata.name}`, p])),
    synced: true,
    error: undefined,
  }
}
const many = (count: number, labels: (i: number) => Record<string, string> = () => ({})) =>
  Array.from({ length: count }, (_, i) => node(`n${i}`, labels(i)))
const web = pod('web', { ...requests('500m', '1Gi') }, {}, { namespace: 'shop', uid: 'u1' })

let page: Running<{ decision: ShownDecision; map: NodeArrangement }>
async function open(at = '/') {
  page = await withSetup(
    () => {
      const decision = useShownDecision()
      return { decision, map: useNodeArrangement(decision) }
    },
    { at }
  )
  await flushPromises()
}
const query = () => page.router.currentRoute.value.query
const names = () => page.value.map.left.value.flatMap((g) => g.nodes.map((n) => n.name))

beforeEach(() => {
  server.getCycle.mockResolvedValue(sampleCycle({ pod: { namespace: 'shop', name: 'web', uid: 'u1' } }))
  results.value = {
    items: [{ ...sampleCycle(), pod: { namespace: 'shop', name: 'web', uid: 'u1' } } as Summary],
    synced: true,
  }
})
afterEach(() => {
  show([])
  results.value = { items: [], synced: true }
  notices.value = []
  vi.clearAllMocks()
})

describe('the arrangement', () => {
  afterEach(() => page.unmount())

  it('shows few nodes as cards and many as tiles, unless the user chooses', async () => {
    show(many(3))
    await open()
    expect(page.value.map.view.value).toBe('cards')
    show(many(200))
    await nextTick()
    expect(page.value.map.view.value).toBe('tiles')
    page.value.map.view.value = 'cards'
    await flushPromises()
    expect(page.value.map.view.value).toBe('cards')
    show(many(400))
    await nextTick()
    expect([page.value.map.view.value, page.value.map.viewOptions.value[0]?.disabled]).toEqual(['tiles', true])
  })

  it('groups by zone by default, and offers the grouping in the URL even if no node has that label', async () => {
    show(many(4, (i) => ({ [zoneLabel]: i % 2 ? 'a' : 'b' })))
    await open()
    expect([page.value.map.group.value, page.value.map.found.value.map((g) => g.name)]).toEqual([zoneLabel, ['a', 'b']])
    page.unmount()
    await open('/?group=gone')
    expect(page.value.map.groupOptions.value.map((o) => o.value)).toEqual(['none', zoneLabel, 'gone'])
    expect(page.value.map.groupName({ name: '', nodes: [], parts: [] })).toContain('gone')
  })

  it('zooms into a part of a group by its labels', async () => {
    show(many(8, (i) => ({ [zoneLabel]: i % 2 ? 'a' : 'b', pool: i < 4 ? 'x' : 'y' })))
    await open(`/?group=${zoneLabel}*pool&q=n`)
    const [group] = page.value.map.found.value
    if (group) page.value.map.zoom(group, 'y')
    await flushPromises()
    expect(query()).toMatchObject({ q: `n ${zoneLabel}=a pool=y`, view: 'cards' })
    expect(names()).toEqual(['n5', 'n7'])
    page.value.map.clearFilters()
    await flushPromises()
    expect(names()).toHaveLength(8)
  })
})

describe('a decision on the map', () => {
  const all = ['node-b2', 'node-a3', 'node-a4', 'node-c1', 'late'].map((name) => node(name))
  afterEach(() => page.unmount())
  beforeEach(() => show(all, [web]))

  it('has the verdict of each node, and the pod’s requests', async () => {
    await open('/?pod=shop/web')
    const { verdictOf, tally, askText } = page.value.decision
    expect(verdictOf.value?.('node-b2')).toMatchObject({ kind: 'scored', chosen: true })
    expect(tally.value).toMatchObject({ feasible: 2, rejected: 2, absent: 1, chosen: 'node-b2' })
    expect(askText.value).toBe('0.5 CPU, 1 Gi')
  })

  it('hides cards by their verdict, but tiles keep their places', async () => {
    await open('/?pod=shop/web&show=rejected')
    expect(names().sort()).toEqual(['node-a4', 'node-c1'])
    expect(page.value.map.found.value[0]?.nodes).toHaveLength(5)
    expect(page.value.map.shownCount.value).toBe(2)
    page.value.map.view.value = 'tiles'
    await flushPromises()
    expect(page.value.map.shownCount.value).toBe(5)
  })

  it('filters by a rejecting plugin, and shows all nodes again', async () => {
    await open('/?pod=shop/web')
    const at = page.value.decision.tally.value?.plugins.findIndex((p) => p.plugin === 'TaintToleration') ?? -1
    page.value.decision.isolate(at)
    await flushPromises()
    expect([query().show, names()]).toEqual(['by:TaintToleration', ['node-a4']])
    page.value.decision.isolate(at)
    await flushPromises()
    expect([query().show, names().length]).toEqual([undefined, 5])
  })

  it('closes with its filters on Escape, or when the pod is chosen again', async () => {
    await open('/?pod=shop/web&show=rejected&at=now&q=node')
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    await flushPromises()
    expect(query()).toEqual({ q: 'node' })
    expect([page.value.decision.verdictOf.value, page.value.decision.filter.value.kind]).toEqual([undefined, 'all'])
    page.value.decision.select('shop/web')
    await flushPromises()
    expect(page.value.decision.selected.value).toBe('shop/web')
    page.value.decision.select('shop/web')
    await flushPromises()
    expect(page.value.decision.selected.value).toBe('')
  })

  it('shows the nodes at that time, without pods that were placed later', async () => {
    const later = pod(
      'later',
      { ...requests('2'), nodeName: 'node-b2' },
      {},
      { namespace: 'shop', uid: 'u9', creationTimestamp: '2026-02-01T00:00:00Z' }
    )
    show(all, [web, later])
    await open('/?pod=shop/web')
    const cpu = () => page.value.decision.nodes.value.find((n) => n.name === 'node-b2')?.cpu.requested
    expect([cpu(), page.value.decision.totals.value.cpu.requested]).toEqual([0, 0])
    page.value.decision.moment.value = 'now'
    await flushPromises()
    expect([cpu(), page.value.decision.totals.value]).toEqual([2, cluster.value.totals])
  })
})

describe('the sample', () => {
  it('reports how many objects it created, or the error', async () => {
    const { value } = await withSetup(useSampleCluster)
    vi.mocked(store.createSample).mockResolvedValueOnce(42)
    const run = value.create()
    expect(value.busy.value).toBe(true)
    await run
    expect([value.busy.value, notices.value.at(-1)?.text.includes('42')]).toEqual([false, true])
    vi.mocked(store.createSample).mockRejectedValueOnce(new Error('no server'))
    await value.create()
    expect([value.busy.value, value.error.value]).toEqual([false, new Error('no server')])
  })
})
