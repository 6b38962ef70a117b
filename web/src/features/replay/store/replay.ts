// The replay that is loaded, if one is: what the server says of it, its transport, and the
// loading of a recording.

import { shallowRef, watch } from 'vue'
import { ApiError } from '@/api/http'
import * as api from '@/api/replay'
import type { Replay, ReplayChange } from '@/api/replay'
import { recordingLoaded as loaded } from '@/live/operation'
import { connection } from '@/live/status'

/** undefined: none is loaded, or it is not known yet. */
export const replay = shallowRef<Replay>()
export const replayError = shallowRef<unknown>()
/** How much of a recording has been sent, while one is loaded. */
export const recordingLoad = shallowRef<{ sent: number; total: number }>()

const quick = 500
const slow = 4000
let timer: ReturnType<typeof setTimeout> | undefined
let turn = 0

function take(found: Replay | undefined): void {
  replay.value = found
  replayError.value = undefined
}

/** Asks for the replay now, and again for as long as one is loaded. */
export async function askReplay(): Promise<void> {
  const mine = ++turn
  clearTimeout(timer)
  try {
    const found = await api.getReplay()
    if (mine !== turn) return
    take(found)
  } catch (error) {
    if (mine !== turn) return
    // None is loaded, or the server has no replay.
    if (error instanceof ApiError && (error.code === 404 || error.code === 501)) return take(undefined)
    replayError.value = error
  }
  askLater()
}
function askLater(): void {
  clearTimeout(timer)
  if (!replay.value) return
  const busy = replay.value.state === 'playing' || replay.value.state === 'seeking'
  timer = setTimeout(() => void askReplay(), busy ? quick : slow)
}

async function change(request: () => Promise<Replay>): Promise<void> {
  const mine = ++turn
  clearTimeout(timer)
  try {
    const found = await request()
    if (mine === turn) take(found)
  } finally {
    if (mine === turn) askLater()
  }
}
export const changeReplay = (wanted: ReplayChange) => change(() => api.changeReplay(wanted))
export const stepReplay = () => change(() => api.stepReplay())

export async function unloadReplay(): Promise<void> {
  turn++
  clearTimeout(timer)
  await api.unloadReplay()
  take(undefined)
}

/** Sends a recording; resolves when it is loaded and paused at its start. */
export async function loadReplay(file: File): Promise<void> {
  turn++
  clearTimeout(timer)
  recordingLoad.value = { sent: 0, total: file.size }
  try {
    take(await api.loadRecording(file.name, file, { sent: (sent, total) => (recordingLoad.value = { sent, total }), signal: new AbortController().signal }))
  } finally {
    recordingLoad.value = undefined
    askLater()
  }
}

/** Another page, or the command line, may have loaded a recording, or unloaded it. */
watch(
  [loaded, () => connection.value.kind === 'live'],
  ([is, live], before) => {
    if (is && live) void askReplay()
    else if (!is && before[0]) {
      turn++
      clearTimeout(timer)
      take(undefined)
    }
  },
  { immediate: true },
)
