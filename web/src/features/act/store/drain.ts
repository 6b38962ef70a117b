// Drains of nodes: asking what a drain would meet, and the drain that is running.

import { shallowRef } from 'vue'
import { evictPod } from '@/api/eviction'
import { newAction } from '@/api/http'
import { messageOf } from '@/api/message'
import type { Pod } from '@/api/types'
import { pool } from '@/api/pool'
import { objectKey } from '@/kubernetes/object'
import { pods } from '@/live/watched'
import { drain, drainItems, planDrain, type DrainItem } from '../model/drain'
import { nodeRef } from '../model/links'
import type { Write } from '../model/write'
import type { Entry } from '../model/entry'
import { makeWrites, remember, type Result } from './changes'

export function podsOn(names: readonly string[]): Pod[] {
  const wanted = new Set(names)
  return [...pods.value.items.values()].filter((pod) => wanted.has(pod.spec?.nodeName ?? ''))
}

/** A dry run asks about at most this many pods. */
const askedAtMost = 200
const width = 6

/** What the server says about evicting the pods now, as a dry run: how many it asked, and who is refused. */
export interface Foreseen {
  asked: number
  refused: readonly { key: string; message: string }[]
}

export async function foresee(wanted: readonly Pod[]): Promise<Foreseen> {
  const refused: { key: string; message: string }[] = []
  const some = wanted.slice(0, askedAtMost)
  await pool(some, width, async (pod) => {
    const answer = await evictPod(pod, true).catch((error: unknown) => ({
      kind: 'refused' as const,
      message: messageOf(error),
    }))
    if (answer.kind === 'refused') refused.push({ key: objectKey(pod), message: answer.message })
  })
  return { asked: some.length, refused: refused.sort((a, b) => (a.key < b.key ? -1 : 1)) }
}

export interface DrainRun {
  names: readonly string[]
  items: readonly DrainItem[]
  /** A new value after each change. */
  tick: number
  state: 'running' | 'done' | 'stopped' | 'failed'
  message: string
  /** Its entry in the history, once it has ended. */
  entry?: Entry
  stop: () => void
}

/** The drain that is running or ran last. It survives its dialog. */
export const drainRun = shallowRef<DrainRun>()

/**
 * Drains the nodes; resolves when nothing is left to try or the drain was stopped. The
 * history gets an entry that uncordons them: evicted pods do not come back.
 */
export async function startDrain(names: readonly string[]): Promise<DrainRun | undefined> {
  if (drainRun.value?.state === 'running') return drainRun.value
  const abort = new AbortController()
  const items = drainItems(planDrain(podsOn(names)))
  const cordoned: Result[] = []
  const show = (change: Partial<DrainRun>) => {
    const now = drainRun.value ?? {
      names,
      items,
      tick: 0,
      state: 'running' as const,
      message: '',
      stop: () => abort.abort(),
    }
    drainRun.value = { ...now, ...change, tick: now.tick + 1 }
  }
  drainRun.value = undefined
  show({})
  const action = newAction('drain')
  const drainer = {
    async cordon(name: string) {
      const write: Write = { op: 'merge', of: nodeRef(name), patch: { spec: { unschedulable: true } } }
      const [result] = await makeWrites([write], { signal: abort.signal, progress: () => {}, action })
      if (result?.error) throw result.error
      if (result) cordoned.push(result)
    },
    evict: (pod: Pod) => evictPod(pod, false, action),
    pause: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
      }),
  }
  try {
    await drain(names, items, drainer, { progress: () => show({}), signal: abort.signal })
    show({ state: abort.signal.aborted ? 'stopped' : 'done' })
  } catch (error) {
    show({ state: 'failed', message: messageOf(error) })
  }
  show({ entry: remember('drain', cordoned) })
  return drainRun.value
}
