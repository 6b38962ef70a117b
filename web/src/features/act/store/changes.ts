// The user's own changes: trying them as a dry run, making them, and undoing them.

import { promiseTimeout } from '@vueuse/core'
import { triggerRef } from 'vue'
import { pool } from '@/api/pool'
import { createObject, deleteObject, getObject, patchObject } from '@/api/kubernetes'
import { newAction } from '@/api/http'
import { messageOf } from '@/api/message'
import { ChangedSince, NotRecreated, perform, type Effect, type Server } from '../model/perform'
import type { Entry } from '../model/entry'
import { isUndoable } from '../model/verbs'
import { inverseOf, type Write } from '../model/write'
import { entries } from './asked'

const serverOf = (action?: string): Server => ({
  get: ({ kind, namespace, name }) => getObject(kind, namespace, name),
  patch: ({ kind, namespace, name }, patch, dryRun, subresource) =>
    patchObject(kind, namespace, name, patch, dryRun, subresource, action),
  create: (kind, namespace, object, dryRun) => createObject(kind, namespace, object, dryRun, action),
  remove: ({ kind, namespace, name }, options) => deleteObject(kind, namespace, name, { ...options, action }),
  pause: promiseTimeout,
})

/** The number of concurrent requests. */
const width = 6
/** A dry run tries at most this many objects: it is an answer to read, not a second run. */
export const triedAtMost = 20
/** Undoing a larger change would keep too many objects in memory. */
export const undoneAtMost = 500
const keptEntries = 50

export type Result =
  { write: Write; effect: Effect; error?: undefined } | { write: Write; error: unknown; effect?: undefined }

let nextId = 1

/** Dry-runs the first of the writes on the server. Never throws. */
export async function tryWrites(writes: readonly Write[]): Promise<Result[]> {
  const results: Result[] = []
  await pool([...writes.slice(0, triedAtMost).entries()], width, async ([at, write]) => {
    results[at] = await resultOf(write, serverOf(), true)
  })
  return results
}

async function resultOf(write: Write, server: Server, dryRun: boolean): Promise<Result> {
  try {
    return { write, effect: await perform(write, server, dryRun) }
  } catch (error) {
    return { write, error }
  }
}

/**
 * Starts no further writes once the signal aborts; with inOrder, each waits for the one before it.
 * action is what newAction returned. Never throws.
 */
export async function makeWrites(
  writes: readonly Write[],
  {
    signal,
    progress,
    action,
    inOrder = false,
  }: { signal: AbortSignal; progress: () => void; action: string; inOrder?: boolean }
): Promise<Result[]> {
  const results: Result[] = []
  const server = serverOf(action)
  await pool(writes, inOrder ? 1 : width, async (write) => {
    if (signal.aborted) return
    results.push(await resultOf(write, server, false))
    progress()
  })
  return results
}

/** Adds what was changed to the history; undefined when nothing was. */
export function remember(verb: Entry['verb'], results: readonly Result[]): Entry | undefined {
  const done = results.filter((r) => r.effect)
  const lost = results.flatMap(({ write, error }): Write[] =>
    error instanceof NotRecreated ? [{ op: 'create', of: write.of, object: error.before }] : []
  )
  if (!done.length && !lost.length) return undefined
  const undoable = verb === 'drain' || verb === 'edit' || verb === 'suppose' || isUndoable(verb)
  const undo =
    undoable && done.length <= undoneAtMost
      ? done.flatMap((r) => (r.effect ? (inverseOf(r.write, r.effect.before, r.effect.after) ?? []) : []))
      : []
  const entry: Entry = {
    id: nextId++,
    verb,
    refs: [...done, ...results.filter((r) => r.error instanceof NotRecreated)].map(({ write }) => write.of),
    at: Date.now(),
    undo: [...undo, ...lost],
    state: 'done',
  }
  entries.value = [entry, ...entries.value].slice(0, keptEntries)
  return entry
}

/** Undoes a change, once. The entry tells how it went. */
export async function undo(entry: Entry): Promise<void> {
  if (entry.state !== 'done' && entry.state !== 'failed') return
  entry.state = 'undoing'
  triggerRef(entries)
  const left: Write[] = []
  let problem: Entry['problem']
  const server = serverOf(newAction(''))
  await pool(entry.undo, width, async (write) => {
    const { error } = await resultOf(write, server, false)
    if (error === undefined) return
    left.push(write)
    problem = { changed: error instanceof ChangedSince, message: messageOf(error) }
  })
  entry.undo = left
  entry.state = problem ? 'failed' : 'undone'
  if (problem) entry.problem = problem
  triggerRef(entries)
}
