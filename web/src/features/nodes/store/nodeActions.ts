// Actions on one or several nodes, and running drains.

import { shallowRef } from 'vue'
import { annotateNode, cordonNode, evictPod } from '@/api/eviction'
import { deleteObject } from '@/api/kubernetes'
import type { Node, Pod } from '@/api/types'
import { pool } from '@/api/pool'
import { drain, drainItems, planDrain, type DrainItem, type Drainer } from '../model/drain'
import { failureAnnotation, failureOf, type NodeFailure } from '../model/failure'
import { nodeKind } from '@/kubernetes/kinds'
import { nodes, pods } from '@/live/watched'

const nodeActionIds = ['notReady', 'unreachable', 'recover', 'cordon', 'uncordon', 'drain', 'delete'] as const
export type NodeActionId = (typeof nodeActionIds)[number]

function nodeOf(name: string): Node | undefined {
  return nodes.value.items.get(name)
}

/** The actions that make sense for at least one of the nodes. */
export function actionsFor(names: readonly string[]): NodeActionId[] {
  const found = names.flatMap((name) => nodeOf(name) ?? [])
  const some = (is: (node: Node) => boolean) => found.some(is)
  const sense: Record<NodeActionId, boolean> = {
    notReady: some((n) => failureOf(n) !== 'not-ready'),
    unreachable: some((n) => failureOf(n) !== 'unreachable'),
    recover: some((n) => failureOf(n) !== undefined),
    cordon: some((n) => !n.spec?.unschedulable),
    uncordon: some((n) => !!n.spec?.unschedulable),
    drain: found.length > 0,
    delete: found.length > 0,
  }
  return nodeActionIds.filter((id) => sense[id])
}

export function podsOn(names: readonly string[]): Pod[] {
  const wanted = new Set(names)
  return [...pods.value.items.values()].filter((pod) => wanted.has(pod.spec?.nodeName ?? ''))
}

export interface Outcome {
  done: string[]
  failed: { name: string; message: string }[]
}

/** Runs an action for each of the nodes, a few at a time. */
async function each(names: readonly string[], action: (name: string) => Promise<unknown>): Promise<Outcome> {
  const outcome: Outcome = { done: [], failed: [] }
  await pool(names, 6, async (name) => {
    try {
      await action(name)
      outcome.done.push(name)
    } catch (error) {
      outcome.failed.push({ name, message: error instanceof Error ? error.message : String(error) })
    }
  })
  return outcome
}

const failures: Partial<Record<NodeActionId, NodeFailure>> = { notReady: 'not-ready', unreachable: 'unreachable' }

/** Every action except drain, which runs longer. */
export function act(id: Exclude<NodeActionId, 'drain'>, names: readonly string[]): Promise<Outcome> {
  if (id === 'cordon' || id === 'uncordon') return each(names, (name) => cordonNode(name, id === 'cordon'))
  if (id === 'delete') return each(names, (name) => deleteObject(nodeKind, undefined, name))
  return each(names, (name) => annotateNode(name, failureAnnotation, failures[id] ?? null))
}

// ── drains ──────────────────────────────────────────────────────────────
export interface DrainRun {
  names: readonly string[]
  items: readonly DrainItem[]
  /** A new value after each change. */
  tick: number
  state: 'running' | 'done' | 'stopped' | 'failed'
  message: string
  stop: () => void
}

/** The drain that is running or ran last. It survives its dialog. */
export const drainRun = shallowRef<DrainRun>()

const drainer: Drainer = {
  cordon: (node) => cordonNode(node, true),
  evict: evictPod,
  pause: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
    }),
}

/** Drains the nodes; resolves when nothing is left to try or the drain was stopped. */
export async function startDrain(names: readonly string[]): Promise<DrainRun | undefined> {
  if (drainRun.value?.state === 'running') return drainRun.value
  const abort = new AbortController()
  const items = drainItems(planDrain(podsOn(names)))
  const show = (change: Partial<DrainRun>) => {
    const now = drainRun.value ?? { names, items, tick: 0, state: 'running' as const, message: '', stop: () => abort.abort() }
    drainRun.value = { ...now, ...change, tick: now.tick + 1 }
  }
  drainRun.value = undefined
  show({})
  try {
    await drain(names, items, drainer, { progress: () => show({}), signal: abort.signal })
    show({ state: abort.signal.aborted ? 'stopped' : 'done' })
  } catch (error) {
    show({ state: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
  return drainRun.value
}
