import { expect, it } from 'vitest'
import { commandOf, endOf, nodesOf, questionOf, scenarioOf, spansOf, ticksOf } from './drain'

const form = { nodes: 'b,a,b', timeout: '', atOnce: '', start: '', force: false, emptyDir: false }

it('keeps the order of the nodes, and asks about each once', () => {
  expect(nodesOf('')).toEqual([])
  expect(questionOf({ ...form, nodes: '' })).toBeUndefined()
  expect(questionOf(form)).toEqual({ nodes: ['b', 'a'], ignoreDaemonSets: true })
  expect(questionOf({ ...form, timeout: '120', atOnce: '2', start: 'x', force: true, emptyDir: true })).toEqual({
    nodes: ['b', 'a'],
    ignoreDaemonSets: true,
    force: true,
    deleteEmptyDirData: true,
    timeoutSeconds: 120,
    atOnce: 2,
  })
})

it('says the same to kubectl and to a workspace', () => {
  const question = { nodes: ['b', 'a'], ignoreDaemonSets: true, force: true, timeoutSeconds: 120 }
  expect(commandOf(question)).toBe('kubectl drain b a --ignore-daemonsets --force --timeout=120s')
  expect(scenarioOf(question)).toMatchObject({
    steps: [{ drain: { node: 'b', force: true, timeout: '120s' } }, { drain: { node: 'a' } }],
  })
})

const eviction = {
  node: 'a',
  namespace: 'd',
  name: 'p',
  fate: 'moves',
  asked: 0,
  evicted: 5,
  placed: 6,
  ready: 16,
} as const

it('puts an eviction on the axis', () => {
  expect(spansOf(eviction, 20)).toEqual([
    { kind: 'waits', from: 0, to: 25 },
    { kind: 'leaves', from: 25, to: 30 },
    { kind: 'starts', from: 30, to: 80 },
  ])
  const { evicted, placed, ready, ...stuck } = { ...eviction, fate: 'blocked' as const }
  expect([evicted, placed, ready]).toEqual([5, 6, 16])
  expect(spansOf(stuck, 20)).toEqual([{ kind: 'waits', from: 0, to: 100, open: true }])
})

it('ends the axis after what happens, with round ticks', () => {
  const summary = { nodes: 1, empty: 1, asked: 1, evicted: 1, pending: 0, gone: 0 }
  expect(endOf({ summary: { ...summary, seconds: 16 }, nodes: [], evictions: [eviction] })).toBe(16)
  expect(endOf({ summary, nodes: [], evictions: [eviction] })).toBe(20)
  expect(ticksOf(16)).toEqual([0, 5, 10, 15])
  expect(ticksOf(292)).toEqual([0, 60, 120, 180, 240])
})
