// The scheduler's configuration as the Scheduler place works with it: what runs, the
// draft, what a dry run says of it, and the applies.

import { useTimeoutFn } from '@vueuse/core'
import { computed, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import * as api from '@/api/configuration'
import { ApiError } from '@/api/http'
import type { Applied, ErrorDetail } from '@/api/types'
import { follow, isDirty, isOvertaken, restore, type Draft, type Running } from '../model/draft'
import { useTurns } from '@/live/answer'
import { connection, status } from '@/live/status'

/** What a dry run says of the draft. unknown: the server did not answer. */
export type Check =
  | { kind: 'idle' }
  | { kind: 'checking' }
  | { kind: 'valid'; applied: Applied }
  | { kind: 'invalid'; message: string; problems: readonly ErrorDetail[] }
  | { kind: 'unknown'; message: string }

const storageKey = 'configurationDraft'
const wait = 500
/** A server that could not tell, because it is starting or busy, is asked again after so long (ms). */
const askAgainAfter = 2000

export const running = shallowRef<Running>()
export const runningError = shallowRef<unknown>()
/** Kept for the life of the page and, in case that ends unasked, in the browser's session. */
export const draft: ShallowRef<Draft | undefined> = shallowRef(restore(sessionStorage.getItem(storageKey)))
export const dirty = computed(() => !!draft.value && isDirty(draft.value))
export const overtaken = computed(() => !!draft.value && !!running.value && isOvertaken(draft.value, running.value))

watch(draft, (value) => {
  try {
    if (value && isDirty(value)) sessionStorage.setItem(storageKey, JSON.stringify(value))
    else sessionStorage.removeItem(storageKey)
  } catch {
    // A full or forbidden storage only means that a crash of the browser would lose the text.
  }
})

/** Changes the text; what it began as stays. */
export function write(text: string): void {
  if (draft.value && text !== draft.value.text) draft.value = { ...draft.value, text }
}

/** What was applied runs now; the status says so a moment later. */
export function nowRuns(revision: number, text: string): void {
  running.value = { revision, text }
  draft.value = follow(undefined, running.value)
}

export function discard(): void {
  if (running.value) draft.value = follow(undefined, running.value)
}

/** Follows what runs for as long as stop has not been called. */
export function followRunning(): () => void {
  const turns = useTurns()
  return watch(
    [() => status.value?.scheduler.revision, () => status.value?.scheduler.phase, () => connection.value.kind === 'live'],
    async ([revision]) => {
      const signal = turns.next()
      if (revision === undefined) return
      try {
        const text = await api.getConfiguration('current', signal)
        if (signal.aborted) return
        runningError.value = undefined
        running.value = { revision, text }
        draft.value = follow(draft.value, running.value)
      } catch (error) {
        if (!signal.aborted) runningError.value = error
      }
    },
    { immediate: true },
  )
}

/** Tries the draft with the server a moment after its last change, until stop is called. */
export function useCheck(): { check: Ref<Check>; now: () => Promise<Check>; stop: () => void } {
  const check = shallowRef<Check>({ kind: 'idle' })
  const turns = useTurns()
  const soon = useTimeoutFn(() => void now(), wait, { immediate: false })
  const again = useTimeoutFn(() => void now(), askAgainAfter, { immediate: false })
  function drop() {
    soon.stop()
    again.stop()
    turns.end()
  }
  async function now(): Promise<Check> {
    drop()
    const signal = turns.next()
    const text = draft.value?.text ?? ''
    // Asked again in silence, it still says why it was not told before.
    if (check.value.kind !== 'unknown') check.value = { kind: 'checking' }
    const found = await tryText(text, signal)
    if (signal.aborted) return found
    check.value = found
    if (found.kind === 'unknown' && connection.value.kind === 'live') again.start()
    return found
  }
  const stop = watch(
    [() => draft.value?.text, dirty, () => connection.value.kind === 'live'],
    ([, isChanged]) => {
      drop()
      check.value = isChanged ? { kind: 'checking' } : { kind: 'idle' }
      if (isChanged) soon.start()
    },
    { immediate: true },
  )
  return {
    check,
    now,
    stop() {
      drop()
      stop()
    },
  }
}

async function tryText(text: string, signal: AbortSignal): Promise<Check> {
  try {
    return { kind: 'valid', applied: await api.tryConfiguration(text, signal) }
  } catch (error) {
    return refusal(error)
  }
}

/** A refusal of the document is told from a server that does not answer. */
export function refusal(error: unknown): Check {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 409) return { kind: 'invalid', message, problems: error.problems }
  return { kind: 'unknown', message }
}

/** Whether the server takes a document, asked once; false until it has said yes. */
export function useAccepted(document: string): ShallowRef<boolean> {
  const accepted = shallowRef(false)
  const stop = watch(
    running,
    async (value) => {
      if (!value) return
      const found = await tryText(document, new AbortController().signal)
      if (found.kind === 'unknown') return
      accepted.value = found.kind === 'valid'
      stop()
    },
    { immediate: true },
  )
  return accepted
}
