// Creating several objects at once: everything is tried first, then created one
// after another. Who talks to the server is given, so this can be tested without one.

import type { KindInfo, KubeObject, StatusCause } from '@/api/types'
import { resolveKind } from './kinds'
import type { Entry, Problem } from './documents'
import { pathsInMessage } from './paths'

/** What a failed request says; ApiError is one. */
export interface Refusal {
  message: string
  code: number
  causes: StatusCause[]
}

export interface Creator {
  /** Every kind that is served. `fresh` asks again. */
  kinds(fresh: boolean): Promise<readonly KindInfo[]>
  create(kind: KindInfo, namespace: string | undefined, object: KubeObject, dryRun: boolean): Promise<KubeObject>
  /** Waits this many milliseconds. */
  pause(ms: number): Promise<void>
}

export type EntryState =
  | { kind: 'pending' }
  /** The server would take it. */
  | { kind: 'checked' }
  /** It needs something that this batch creates first, so it could not be tried. */
  | { kind: 'unchecked' }
  | { kind: 'created'; name: string; namespace: string | undefined }
  | { kind: 'failed'; refusal: Refusal }
  | { kind: 'notAttempted' }

export interface Item {
  entry: Entry
  info: KindInfo | undefined
  namespace: string | undefined
  state: EntryState
}

export interface BatchResult {
  items: Item[]
  /** Where in the text things went wrong. */
  problems: Problem[]
  /** What has been created, in order, is in items; true when that is everything. */
  complete: boolean
  /** Something was created. */
  created: number
}

/**
 * Tries all entries with a dry run; creates them only if none was refused. What
 * depends on an entry of the same batch (a namespace, a kind, a priority class)
 * cannot be tried and is created unchecked. Stops at the first refusal and says
 * what had been created. progress is called after each step.
 */
export async function createAll(entries: readonly Entry[], creator: Creator, progress: (items: readonly Item[]) => void = () => {}): Promise<BatchResult> {
  const items = order(entries)
  const made = promises(entries)
  const problems: Problem[] = []
  const result = (): BatchResult => {
    const created = items.filter((i) => i.state.kind === 'created').length
    return { items, problems, complete: items.length > 0 && created === items.length, created }
  }
  const refuse = (item: Item, refusal: Refusal) => {
    item.state = { kind: 'failed', refusal }
    problems.push(...locate(item.entry, refusal))
    progress(items)
  }

  const kinds = await creator.kinds(false)
  for (const item of items) {
    item.info = resolveKind(kinds, item.entry.apiVersion, item.entry.kind)
    if (item.info) item.namespace = item.info.namespaced ? (item.entry.namespace ?? 'default') : undefined
    else if (!made.kinds.has(groupKind(item.entry))) {
      const message = `no matches for kind "${item.entry.kind}" in version "${item.entry.apiVersion}"`
      refuse(item, { message, code: 404, causes: [{ field: 'kind' }] })
    }
  }

  await pool(
    items.filter((i) => i.state.kind === 'pending'),
    6,
    async (item) => {
      if (!item.info || dependsOn(item, made)) {
        item.state = { kind: 'unchecked' }
      } else {
        try {
          await creator.create(item.info, item.namespace, item.entry.object, true)
          item.state = { kind: 'checked' }
        } catch (error) {
          refuse(item, asRefusal(error))
          return
        }
      }
      progress(items)
    },
  )
  if (items.some((i) => i.state.kind === 'failed')) {
    for (const item of items) if (item.state.kind !== 'failed') item.state = { kind: 'notAttempted' }
    problems.sort((a, b) => a.line - b.line)
    progress(items)
    return result()
  }

  for (const [i, item] of items.entries()) {
    try {
      const created = await create(item, creator, made)
      item.state = { kind: 'created', name: created.metadata.name, namespace: created.metadata.namespace }
      progress(items)
    } catch (error) {
      for (const later of items.slice(i + 1)) later.state = { kind: 'notAttempted' }
      refuse(item, asRefusal(error))
      break
    }
  }
  return result()
}

/** A kind that the batch itself defines is served a moment after its definition was created. */
async function create(item: Item, creator: Creator, made: Made): Promise<KubeObject> {
  for (let attempt = 0; ; attempt++) {
    if (!item.info) item.info = resolveKind(await creator.kinds(true), item.entry.apiVersion, item.entry.kind)
    if (item.info) {
      item.namespace = item.info.namespaced ? (item.entry.namespace ?? 'default') : undefined
      try {
        return await creator.create(item.info, item.namespace, item.entry.object, false)
      } catch (error) {
        if (asRefusal(error).code !== 404 || !made.kinds.has(groupKind(item.entry)) || attempt >= 40) throw error
      }
    } else if (attempt >= 40) {
      throw { message: `kind "${item.entry.kind}" is not served yet`, code: 404, causes: [] } satisfies Refusal
    }
    await creator.pause(250)
  }
}

interface Made {
  namespaces: Set<string>
  kinds: Set<string>
  priorityClasses: Set<string>
}

function promises(entries: readonly Entry[]): Made {
  const made: Made = { namespaces: new Set(), kinds: new Set(), priorityClasses: new Set() }
  for (const { kind, name, object } of entries) {
    if (kind === 'Namespace') made.namespaces.add(name)
    if (kind === 'PriorityClass') made.priorityClasses.add(name)
    if (kind === 'CustomResourceDefinition') {
      const spec = object.spec as { group?: string; names?: { kind?: string } } | undefined
      made.kinds.add(`${spec?.group}/${spec?.names?.kind}`)
    }
  }
  return made
}

function groupKind(entry: Entry): string {
  return `${entry.apiVersion.split('/')[0]}/${entry.kind}`
}

function dependsOn(item: Item, made: Made): boolean {
  if (made.kinds.has(groupKind(item.entry))) return true
  if (item.namespace !== undefined && made.namespaces.has(item.namespace)) return true
  const spec = item.entry.object.spec as { priorityClassName?: string } | undefined
  return item.entry.kind === 'Pod' && spec?.priorityClassName !== undefined && made.priorityClasses.has(spec.priorityClassName)
}

/** What others need goes first; the rest stays as it was written. */
function order(entries: readonly Entry[]): Item[] {
  const rank = (e: Entry) => (e.kind === 'Namespace' || e.kind === 'CustomResourceDefinition' ? 0 : e.kind === 'PriorityClass' || e.kind === 'StorageClass' ? 1 : 2)
  return [...entries]
    .sort((a, b) => rank(a) - rank(b) || a.index - b.index)
    .map((entry) => ({ entry, info: undefined, namespace: undefined, state: { kind: 'pending' } }))
}

/** The lines of an entry that a refusal is about, with the server's own words. */
export function locate(entry: Entry, refusal: Refusal): Problem[] {
  const fields = refusal.causes.filter((c) => c.field)
  if (fields.length) {
    const seen = new Map<string, Problem>()
    for (const cause of fields) {
      const field = cause.field ?? ''
      const message = cause.message ? `${field}: ${cause.message}` : refusal.message
      seen.set(`${field} ${message}`, { line: entry.lineOf(field), message })
    }
    return [...seen.values()]
  }
  const paths = pathsInMessage(refusal.message)
  if (!paths.length) return [{ line: entry.line, message: refusal.message }]
  return paths.map((path) => ({ line: entry.lineOf(path), message: refusal.message }))
}

export function asRefusal(error: unknown): Refusal {
  if (typeof error === 'object' && error !== null && 'message' in error) {
    const { message, code, causes } = error as Partial<Refusal>
    return { message: String(message), code: code ?? 0, causes: causes ?? [] }
  }
  return { message: String(error), code: 0, causes: [] }
}

async function pool<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const run = async () => {
    while (next < items.length) {
      const item = items[next++]
      if (item !== undefined) await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, run))
}
