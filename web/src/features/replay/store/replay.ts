// The loaded replay: its state on the server, its transport, and loading a recording.

import { useTimeoutFn } from '@vueuse/core'
import { shallowRef, watch } from 'vue'
import { ApiError } from '@/api/http'
import * as api from '@/api/replay'
import type { Replay, ReplayChange } from '@/api/replay'
import { useTurns } from '@/live/answer'
import { recordingLoaded as loaded } from '@/live/operation'
import { connection } from '@/live/status'

/** undefined: none is loaded, or its state is not known yet. */
export const replay = shallowRef<Replay>()
export const replayError = shallowRef<unknown>()
/** The progress of an upload in bytes; undefined when there is none. */
export const recordingLoad = shallowRef<{ sent: number; total: number }>()

/** A recording that the user chose to load; the dialog of imports asks where. */
export const recordingChosen = shallowRef<File>()

const quick = 500
const slow = 4000
const isBusy = () => replay.value?.state === 'playing' || replay.value?.state === 'seeking'
const again = useTimeoutFn(
  () => void askReplay(),
  () => (isBusy() ? quick : slow),
  { immediate: false }
)
const turns = useTurns()

/** Starts a turn: discards the results of earlier ones and pauses polling. */
function start(): AbortSignal {
  again.stop()
  return turns.next()
}

function take(found: Replay | undefined): void {
  replay.value = found
  replayError.value = undefined
}

/** Requests the replay now, then polls while one is loaded. */
export async function askReplay(): Promise<void> {
  const signal = start()
  try {
    const found = await api.getReplay(signal)
    if (signal.aborted) return
    take(found)
  } catch (error) {
    if (signal.aborted) return
    // No recording is loaded, or the server does not support replays.
    if (error instanceof ApiError && (error.code === 404 || error.code === 501)) return take(undefined)
    replayError.value = error
  }
  askLater()
}
function askLater(): void {
  if (replay.value) again.start()
}

async function change(request: () => Promise<Replay>): Promise<void> {
  const signal = start()
  try {
    const found = await request()
    if (!signal.aborted) take(found)
  } finally {
    if (!signal.aborted) askLater()
  }
}
export const changeReplay = (wanted: ReplayChange) => change(() => api.changeReplay(wanted))
export const stepReplay = () => change(() => api.stepReplay())

export async function unloadReplay(): Promise<void> {
  start()
  await api.unloadReplay()
  take(undefined)
}

/** Uploads a recording; resolves when it is loaded and paused at its start. */
export async function loadReplay(file: File): Promise<void> {
  start()
  recordingLoad.value = { sent: 0, total: file.size }
  try {
    take(
      await api.loadRecording(file.name, file, {
        sent: (sent, total) => (recordingLoad.value = { sent, total }),
        signal: new AbortController().signal,
      })
    )
  } finally {
    recordingLoad.value = undefined
    askLater()
  }
}

/** Another page or the command line may load or unload a recording. */
watch(
  [loaded, () => connection.value.kind === 'live'],
  ([is, live], before) => {
    if (is && live) void askReplay()
    else if (!is && before[0]) {
      start()
      take(undefined)
    }
  },
  { immediate: true }
)
