// Reactive adapters over the watch client: plain collections, published as one shallow
// ref at most once per animation frame.

import { nextTick, shallowRef, type ShallowRef } from 'vue'
import { WatchClient, watchURL, type ErrorFrame, type Frame, type Socket, type Target } from '@/api/watch'
import type { KindInfo, KubeObject, Node, Pod, Status, Summary } from '@/api/types'
import { ClusterModel } from '@/kubernetes/cluster'
import { keptColours } from './ownerColours'
import { Collection, Recent } from './collection'
import { objectKey, sameVersion } from '@/kubernetes/object'
import { nodeKind, podKind } from '@/kubernetes/kinds'

export const watch = new WatchClient({
  connect: () => new WebSocket(watchURL(window.location)) as unknown as Socket,
})

/** A snapshot of a collection. The Map is the live one: read it, do not keep it. */
export interface Published<T> {
  items: ReadonlyMap<string, T>
  synced: boolean
  error: ErrorFrame | undefined
}

interface Applies<T> {
  apply(frame: Frame<T>): void
}

const flushes = new Set<() => void>()
let scheduled = false
/** Publishing waits until this time (ms of performance.now()). */
let restUntil = 0

/**
 * Runs flush before the next frame is drawn, once per frame at most. Rendering takes
 * time, so a long publishing is followed by a pause of three times its length: a stream
 * of changes cannot starve user input.
 */
function publishSoon(flush: () => void): void {
  flushes.add(flush)
  if (scheduled) return
  scheduled = true
  const run = () => {
    scheduled = false
    const began = performance.now()
    const all = [...flushes]
    flushes.clear()
    for (const f of all) f()
    void nextTick(() => {
      const now = performance.now()
      restUntil = now + Math.min(400, 3 * (now - began))
    })
  }
  const rest = restUntil - performance.now()
  // A hidden page draws no frames, but must be correct for tests and screen readers.
  if (document.hidden) setTimeout(run, 100)
  else if (rest > 8) setTimeout(() => requestAnimationFrame(run), rest - 8)
  else requestAnimationFrame(run)
}

function follow<T>(
  id: string,
  target: Target,
  state: Applies<T>,
  publish: (error: ErrorFrame | undefined) => void
): () => void {
  let error: ErrorFrame | undefined
  const flush = () => publish(error)
  return watch.subscribe<T>(id, target, {
    frame(frame) {
      error = undefined
      state.apply(frame)
      // An incomplete list is not published.
      if (frame.type !== 'list' || !frame.more) publishSoon(flush)
    },
    error(frame) {
      error = frame
      publishSoon(flush)
    },
  })
}

type Changed<T> = (key: string, object: T | undefined) => void

function followKind<T extends KubeObject>(
  id: string,
  kind: KindInfo,
  changed?: Changed<T>
): { published: ShallowRef<Published<T>>; stop: () => void } {
  const collection = new Collection<T>(objectKey, sameVersion)
  const published = shallowRef<Published<T>>({ items: collection.items, synced: false, error: undefined })
  const { group, version, resource } = kind
  // Derived state is updated on arrival, not for all objects at once when a page needs it.
  const state: Applies<T> = {
    apply(frame) {
      collection.apply(frame)
      for (const key of collection.takeChanged()) changed?.(key, collection.items.get(key))
    },
  }
  const stop = follow<T>(id, { resource: { group, version, resource } }, state, (error) => {
    published.value = { items: collection.items, synced: collection.synced, error }
  })
  return { published, stop }
}

/** Follows nodes and pods; get a view after either is published. */
export const model = new ClusterModel(keptColours())
/** Kept while the page is open, because every page needs them. */
const nodesLive = followKind<Node>('nodes', nodeKind, (name, node) => model.setNode(name, node))
const podsLive = followKind<Pod>('pods', podKind, (key, pod) => model.setPod(key, pod))
export const nodes = nodesLive.published
export const pods = podsLive.published

/** The newest cycles, newest first. */
export const results = shallowRef<{ items: readonly Summary[]; synced: boolean }>({ items: [], synced: false })
const resultsLimit = 2000
const recent = new Recent<Summary>(
  (s) => `${s.pod.uid}/${s.attempt}`,
  resultsLimit,
  (s) => Date.parse(s.startTime)
)
follow<Summary>('results', { topic: 'results' }, recent, () => {
  results.value = { items: recent.list(), synced: recent.synced }
})

/** The simulator's state according to the socket; status.ts completes it while there is no socket. */
export const watchedStatus = shallowRef<Status>()
follow<Status>(
  'status',
  { topic: 'status' },
  {
    apply(frame) {
      const last = frame.type === 'list' ? frame.items.at(-1) : frame.events.at(-1)?.object
      if (last) watchedStatus.value = last
    },
  },
  () => {}
)

const shared = new Map<string, { live: ReturnType<typeof followKind<KubeObject>>; users: number }>()

/** Follows a kind while a component uses it. Call stop when done. */
export function useKind(kind: KindInfo): { published: ShallowRef<Published<KubeObject>>; stop: () => void } {
  if (!kind.group && kind.resource === 'nodes')
    return { published: nodes as ShallowRef<Published<KubeObject>>, stop: () => {} }
  if (!kind.group && kind.resource === 'pods')
    return { published: pods as ShallowRef<Published<KubeObject>>, stop: () => {} }
  const id = `${kind.resource}.${kind.version}.${kind.group}`
  let entry = shared.get(id)
  if (!entry) {
    entry = { live: followKind<KubeObject>(id, kind), users: 0 }
    shared.set(id, entry)
  }
  entry.users++
  const mine = entry
  let stopped = false
  return {
    published: mine.live.published,
    stop() {
      if (stopped) return
      stopped = true
      if (--mine.users > 0) return
      mine.live.stop()
      shared.delete(id)
    },
  }
}
