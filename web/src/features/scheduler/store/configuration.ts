// The state of the Scheduler page: the running configuration, the draft, and the results of
// its dry runs.

import { useTimeoutFn } from '@vueuse/core'
import { computed, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { ownKey } from '@/api/base'
import * as api from '@/api/configuration'
import { ApiError } from '@/api/http'
import { messageOf } from '@/api/message'
import type { Applied, ErrorDetail } from '@/api/types'
import { follow, isDirty, isOvertaken, nothingSet, restore, type Draft, type Running } from '../model/draft'
import { useTurns } from '@/live/answer'
import { connection, status } from '@/live/status'

/** The result of a dry run of the draft. unknown: the server could not check it. */
export type Check =
  | { kind: 'idle' }
  | { kind: 'checking' }
  | { kind: 'valid'; applied: Applied }
  | { kind: 'invalid'; message: string; problems: readonly ErrorDetail[] }
  | { kind: 'unknown'; message: string }

const storageKey = ownKey('configurationDraft')
const wait = 500
/** The delay before a retry when the server is starting or busy (ms). */
const askAgainAfter = 2000

export const running = shallowRef<Running>()
export const runningError = shallowRef<unknown>()
/** Lives as long as the page. Session storage restores it after a reload or a crash. */
export const draft: ShallowRef<Draft | undefined> = shallowRef(restore(sessionStorage.getItem(storageKey)))
export const dirty = computed(() => !!draft.value && isDirty(draft.value))
export const overtaken = computed(() => !!draft.value && !!running.value && isOvertaken(draft.value, running.value))

watch(draft, (value) => {
  try {
    if (value && isDirty(value)) sessionStorage.setItem(storageKey, JSON.stringify(value))
    else sessionStorage.removeItem(storageKey)
  } catch {
    // Without storage, only a reload or a crash would lose the text.
  }
})

/** Changes the draft's text and keeps its origin. */
export function write(text: string): void {
  if (draft.value && text !== draft.value.text) draft.value = { ...draft.value, text }
}

/** Makes an applied document the running one. The status confirms it a moment later. */
export function nowRuns(revision: number, text: string): void {
  running.value = { revision, text }
  draft.value = follow(undefined, running.value)
}

export function discard(): void {
  if (running.value) draft.value = follow(undefined, running.value)
}

/** Follows the running configuration until the returned function is called. */
export function followRunning(): () => void {
  const turns = useTurns()
  return watch(
    [
      () => status.value?.scheduler.revision,
      () => status.value?.scheduler.phase,
      () => connection.value.kind === 'live',
    ],
    async ([revision]) => {
      const signal = turns.next()
      if (revision === undefined) return
      try {
        const [text, standard] = await Promise.all(
          (['current', 'default'] as const).map((which) => api.getConfiguration(which, signal))
        )
        if (signal.aborted || text === undefined) return
        runningError.value = undefined
        running.value = { revision, text: text === standard ? nothingSet : text }
        draft.value = follow(draft.value, running.value)
      } catch (error) {
        if (!signal.aborted) runningError.value = error
      }
    },
    { immediate: true }
  )
}

/**
 * Dry-runs the draft a moment after each change, also of the running configuration, with which the
 * answer compares it; until stop is called.
 */
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
    // A retry keeps showing why the last check failed.
    if (check.value.kind !== 'unknown') check.value = { kind: 'checking' }
    const found = await tryText(text, signal)
    if (signal.aborted) return found
    check.value = found
    if (found.kind === 'unknown' && connection.value.kind === 'live') again.start()
    return found
  }
  const stop = watch(
    [() => draft.value?.text, dirty, () => connection.value.kind === 'live', () => running.value?.revision],
    ([, isChanged]) => {
      drop()
      check.value = isChanged ? { kind: 'checking' } : { kind: 'idle' }
      if (isChanged) soon.start()
    },
    { immediate: true }
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

/** Distinguishes an invalid document from a server that could not check it. */
export function refusal(error: unknown): Check {
  const message = messageOf(error)
  if (error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 409)
    return { kind: 'invalid', message, problems: error.problems }
  return { kind: 'unknown', message }
}

/** Whether the server accepts a document. Checked once; false until then. */
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
    { immediate: true }
  )
  return accepted
}
