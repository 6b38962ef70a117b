// The connection and the simulator's phase, as the header shows them.

import { useIntervalFn } from '@vueuse/core'
import { computed, shallowRef, watch as vueWatch } from 'vue'
import { getStatus } from '@/api/simulator'
import type { ConnectionState } from '@/api/watch'
import type { Status } from '@/api/types'
import { Samples } from './rates'
import { model, nodes, pods, watch, watchedStatus } from './watched'

export const connection = shallowRef<ConnectionState>(watch.state)
watch.observe((state) => {
  connection.value = state
})

/** The time of the last frame from the server (RFC 3339), as of the last change of the connection. */
export const heardAt = computed(() => (void connection.value, new Date(watch.lastHeard || Date.now()).toISOString()))

export const status = shallowRef<Status>()
vueWatch(watchedStatus, (value) => {
  status.value = value
})

/** The simulator is away or does not respond: its last known state may be outdated. */
export const away = computed(() => ['stale', 'retrying', 'closed'].includes(connection.value.kind))

/** Lists have arrived at least once, so pages have something to show, even if outdated. */
export const everReady = computed(() => nodes.value.synced && pods.value.synced)

/** The wall clock in ms, updated every second. */
export const now = shallowRef(Date.now())

/** The number of pending pods per second, recorded while the connection was live. */
export const pendingSamples = new Samples()

/**
 * Opens the socket and updates status and clock while the page is open and something serves it.
 * While the socket is down, it requests the status by HTTP, to distinguish a server that is
 * starting from one that is gone.
 */
export function startLive(served: () => boolean): void {
  vueWatch(served, (is) => (is ? watch.start() : watch.stop()), { immediate: true })
  useIntervalFn(() => {
    now.value = Date.now()
    if (everReady.value && connection.value.kind === 'live')
      pendingSamples.set(Math.floor(now.value / 1000), model.pendingCount)
  }, 1000)
  let asking = false
  const poll = async () => {
    if (asking || !served() || (connection.value.kind === 'live' && status.value?.phase === 'running')) return
    asking = true
    try {
      status.value = await getStatus()
      // The server responds again, so the socket need not wait for its next attempt.
      watch.retryNow()
    } catch {
      if (connection.value.kind !== 'live') status.value = undefined
    } finally {
      asking = false
    }
  }
  vueWatch(served, () => void poll(), { immediate: true })
  useIntervalFn(() => void poll(), 1000)
}

export function retryNow(): void {
  watch.retryNow()
}
