// Creates and changes several objects at once: first it asks the server with dry runs,
// then it writes, in dependency order. The caller provides the client, so that tests run
// without a server.

import { pool } from '@/api/pool'
import type { KindInfo, KubeObject, StatusCause } from '@/api/types'
import type { Entry, Problem } from '@/features/yaml/model/documents'
import { resolveKind } from '@/kubernetes/kinds'
import { same } from '@/kubernetes/merge'
import { parsePath, pathsInMessage, strictErrors } from '@/kubernetes/fieldPaths'
import { withoutServerMetadata } from '@/kubernetes/object'

/** What a failed request reports; ApiError implements it. */
export interface Refusal {
  message: string
  code: number
  causes: StatusCause[]
  /** The API server's reason, such as AlreadyExists. */
  reason?: string
}

export interface Creator {
  /** Every served kind. `fresh` bypasses the cache. */
  kinds(fresh: boolean): Promise<readonly KindInfo[]>
  create(kind: KindInfo, namespace: string | undefined, object: KubeObject, dryRun: boolean): Promise<KubeObject>
  get(kind: KindInfo, namespace: string | undefined, name: string): Promise<KubeObject>
  /** Server-side apply. Without force, fields of other managers cause a refusal with the reason Conflict. */
  apply(
    kind: KindInfo,
    namespace: string | undefined,
    object: KubeObject,
    options: { dryRun: boolean; force: boolean }
  ): Promise<KubeObject>
  pause(ms: number): Promise<void>
}

export type EntryState =
  | { kind: 'pending' }
  /** The server would accept it; `after` is the object that it would store. */
  | { kind: 'checked'; after: KubeObject }
  /** Not checked: it depends on an object that this batch creates first, or there are too many items. */
  | { kind: 'unchecked' }
  | { kind: 'differs'; before: KubeObject; after: KubeObject }
  | { kind: 'same' }
  | { kind: 'created'; name: string; namespace: string | undefined }
  | { kind: 'changed'; name: string; namespace: string | undefined }
  /**
   * With `before` and `after`, it exists and other managers own the fields: the difference that a
   * takeover would make.
   */
  | { kind: 'failed'; refusal: Refusal; before?: KubeObject; after?: KubeObject }
  | { kind: 'notAttempted' }

export interface Item {
  entry: Entry
  info: KindInfo | undefined
  namespace: string | undefined
  state: EntryState
}

export interface Steps {
  /** Called with all items after each step. */
  progress?: (items: readonly Item[]) => void
  force?: boolean
  /** After an abort, no new request starts; the remaining items are not attempted. */
  signal?: AbortSignal
  /** The number of concurrent requests. */
  width?: number
}

const defaultWidth = 6

/** Items for entries, in creation order. */
export function itemsOf(entries: readonly Entry[]): Item[] {
  return [...entries]
    .sort((a, b) => rankOf(a) - rankOf(b) || a.index - b.index)
    .map((entry) => ({ entry, info: undefined, namespace: undefined, state: { kind: 'pending' } }))
}

/**
 * Dependencies come first, pods last: first those that have a node already, because the scheduler
 * counts them for the others.
 */
const ranks: readonly (readonly string[])[] = [
  ['CustomResourceDefinition', 'Namespace'],
  [
    'PriorityClass',
    'StorageClass',
    'DeviceClass',
    'RuntimeClass',
    'CSIDriver',
    'VolumeAttributesClass',
    'ServiceAccount',
    'ClusterRole',
    'Role',
  ],
  [
    'Node',
    'PersistentVolume',
    'ConfigMap',
    'Secret',
    'LimitRange',
    'ResourceQuota',
    'ClusterRoleBinding',
    'RoleBinding',
  ],
  [
    'CSINode',
    'CSIStorageCapacity',
    'ResourceSlice',
    'ResourceClaimTemplate',
    'PersistentVolumeClaim',
    'ResourceClaim',
    'PodDisruptionBudget',
    'Service',
    'PodGroup',
    'Workload',
  ],
]
const nodeRank = ranks.findIndex((kinds) => kinds.includes('Node'))
const restRank = ranks.length
const placedRank = restRank + 1
const podRank = placedRank + 1

function rankOf({ kind, object }: Entry): number {
  if (kind === 'Pod') return (object.spec as { nodeName?: string } | undefined)?.nodeName ? placedRank : podRank
  const at = ranks.findIndex((kinds) => kinds.includes(kind))
  return at < 0 ? restRank : at
}

/**
 * Asks the server with dry runs what it would do with each pending item. An item that
 * depends on another item of the batch (a namespace, a kind, a class) cannot be checked.
 */
export async function check(
  items: Item[],
  creator: Creator,
  { progress = () => {}, force = false, signal, width = defaultWidth }: Steps = {}
): Promise<void> {
  const made = promises(items.map((i) => i.entry))
  await resolveKinds(items, creator, made)
  for (const item of items) if (isUnknown(item, made)) item.state = { kind: 'failed', refusal: unknownKind(item.entry) }
  progress(items)
  await pool(
    items.filter((i) => i.state.kind === 'pending'),
    width,
    async (item) => {
      if (signal?.aborted) return
      item.state =
        !item.info || dependsOn(item, made) ? { kind: 'unchecked' } : await tryOut(item, item.info, creator, force)
      progress(items)
    }
  )
}

/**
 * Finds the kinds of items. It asks the server again for kinds that were not served at the latest
 * discovery.
 */
async function resolveKinds(items: readonly Item[], creator: Creator, made: Made): Promise<void> {
  for (const fresh of [false, true]) {
    if (fresh && !items.some((item) => isUnknown(item, made))) return
    const kinds = await creator.kinds(fresh)
    for (const item of items) {
      item.info ??= resolveKind(kinds, item.entry.apiVersion, item.entry.kind)
      if (item.info) item.namespace = item.info.namespaced ? (item.entry.namespace ?? 'default') : undefined
    }
  }
}

/** Whether neither the server nor the batch has the kind. */
function isUnknown({ info, entry }: Item, made: Made): boolean {
  return !info && !made.kinds.has(groupKind(entry))
}

function unknownKind({ kind, apiVersion }: Entry): Refusal {
  return { message: `no matches for kind "${kind}" in version "${apiVersion}"`, code: 404, causes: [{ field: 'kind' }] }
}

async function tryOut(item: Item, info: KindInfo, creator: Creator, force: boolean): Promise<EntryState> {
  const object = withoutServerMetadata(item.entry.object)
  try {
    return { kind: 'checked', after: await creator.create(info, item.namespace, object, true) }
  } catch (error) {
    const refusal = asRefusal(error)
    if (refusal.reason !== 'AlreadyExists') return { kind: 'failed', refusal }
  }
  const applied = (by: boolean) => creator.apply(info, item.namespace, object, { dryRun: true, force: by })
  let before: KubeObject | undefined
  try {
    before = await creator.get(info, item.namespace, object.metadata.name)
    const after = await applied(force)
    return same(comparable(before), comparable(after)) ? { kind: 'same' } : { kind: 'differs', before, after }
  } catch (error) {
    const refusal = asRefusal(error)
    if (!before || !managedByOthers(refusal).length) return { kind: 'failed', refusal }
    // The user can decide about a takeover after seeing its effect.
    const after = await applied(true).catch(() => undefined)
    return { kind: 'failed', refusal, ...(after ? { before, after } : {}) }
  }
}

function comparable(object: KubeObject): unknown {
  return { ...withoutServerMetadata(object), apiVersion: '', kind: '' }
}

/**
 * Creates missing objects and changes those that differ, several at a time, one rank
 * after the other. A refusal does not stop the other items.
 */
export async function perform(
  items: Item[],
  creator: Creator,
  { progress = () => {}, force = false, signal, width = defaultWidth }: Steps = {}
): Promise<void> {
  const made = promises(items.map((i) => i.entry))
  const open = items.filter((i) => ['pending', 'checked', 'unchecked', 'differs'].includes(i.state.kind))
  await resolveKinds(open, creator, made)
  for (let rank = 0; rank <= podRank; rank++) {
    await pool(
      open.filter((i) => rankOf(i.entry) === rank),
      width,
      async (item) => {
        item.state = signal?.aborted ? { kind: 'notAttempted' } : await write(item, creator, made, force)
        progress(items)
      }
    )
    if (rank === nodeRank && open.some((i) => rankOf(i.entry) > rank)) await nodesReady(open, creator, signal)
  }
}

/** More nodes than this are not waited for. */
const mostNodes = 20
const notReady = 'node.kubernetes.io/not-ready'

/**
 * Waits a moment until the created nodes take pods: a new node has a taint until its kubelet
 * reports. Otherwise each pod's first attempt would only tell that its nodes are new. Without
 * an answer, and for nodes that stay unready, the pods are created anyway.
 */
async function nodesReady(items: readonly Item[], creator: Creator, signal?: AbortSignal): Promise<void> {
  let waiting = items.filter((i) => i.entry.kind === 'Node' && i.state.kind === 'created')
  if (waiting.length > mostNodes) return
  for (let attempt = 0; attempt < 12 && waiting.length && !signal?.aborted; attempt++) {
    if (attempt) await creator.pause(250)
    const found = await Promise.all(
      waiting.map(
        async ({ info, entry }) => info && (await creator.get(info, undefined, entry.name).catch(() => undefined))
      )
    )
    waiting = waiting.filter((_, i) => {
      const { spec } = (found[i] ?? {}) as { spec?: { taints?: { key: string }[] } }
      return spec?.taints?.some((taint) => taint.key === notReady)
    })
  }
}

async function write(item: Item, creator: Creator, made: Made, force: boolean): Promise<EntryState> {
  const object = withoutServerMetadata(item.entry.object)
  try {
    if (item.state.kind === 'differs' && item.info) {
      const changed = await creator.apply(item.info, item.namespace, object, { dryRun: false, force })
      return { kind: 'changed', name: changed.metadata.name, namespace: changed.metadata.namespace }
    }
    const created = await create(item, object, creator, made)
    return { kind: 'created', name: created.metadata.name, namespace: created.metadata.namespace }
  } catch (error) {
    return { kind: 'failed', refusal: asRefusal(error) }
  }
}

/**
 * The server serves a kind that the batch defines only a moment after its definition; the same
 * holds for a class.
 */
async function create(item: Item, object: KubeObject, creator: Creator, made: Made): Promise<KubeObject> {
  const defined = made.kinds.has(groupKind(item.entry))
  for (let attempt = 0; ; attempt++) {
    if (!item.info && defined)
      item.info = resolveKind(await creator.kinds(true), item.entry.apiVersion, item.entry.kind)
    if (item.info) {
      item.namespace = item.info.namespaced ? (item.entry.namespace ?? 'default') : undefined
      try {
        return await creator.create(item.info, item.namespace, object, false)
      } catch (error) {
        const late =
          (defined && asRefusal(error).code === 404) || (usesClass(item, made) && asRefusal(error).code === 403)
        if (!late || attempt >= 40) throw error
      }
    } else if (!defined) {
      throw unknownKind(item.entry)
    } else if (attempt >= 40) {
      throw { message: `kind "${item.entry.kind}" is not served yet`, code: 404, causes: [] } satisfies Refusal
    }
    await creator.pause(250)
  }
}

export function problemsOf(items: readonly Item[]): Problem[] {
  const problems = items.flatMap((item) => {
    if (item.state.kind !== 'failed') return []
    const { file } = item.entry
    return locate(item.entry, item.state.refusal).map((problem) => (file ? { ...problem, file } : problem))
  })
  return problems.sort((a, b) => (a.file ?? '').localeCompare(b.file ?? '') || a.line - b.line)
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

function usesClass(item: Item, made: Made): boolean {
  const spec = item.entry.object.spec as { priorityClassName?: string } | undefined
  return (
    item.entry.kind === 'Pod' &&
    spec?.priorityClassName !== undefined &&
    made.priorityClasses.has(spec.priorityClassName)
  )
}

function dependsOn(item: Item, made: Made): boolean {
  if (made.kinds.has(groupKind(item.entry))) return true
  if (item.namespace !== undefined && made.namespaces.has(item.namespace)) return true
  return usesClass(item, made)
}

/** The lines of an entry that a refusal refers to, with the server's message. */
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
  const strict = strictErrors(refusal.message)
  if (strict.length) return strict.map(({ path, message }) => ({ line: entry.lineOf(path), message }))
  const paths = pathsInMessage(refusal.message)
  if (!paths.length) return [{ line: entry.line, document: entry.line, message: refusal.message }]
  return paths.map((path) => ({ line: entry.lineOf(path), message: refusal.message }))
}

/** The fields of other managers, if a refusal names them. */
export function managedByOthers(refusal: Refusal): { field: string; message: string; path: (string | number)[] }[] {
  return refusal.causes
    .filter((c) => c.reason === 'FieldManagerConflict')
    .map((c) => ({
      field: (c.field ?? '').replace(/^\./, ''),
      message: c.message ?? '',
      path: parsePath(c.field ?? ''),
    }))
}

export function asRefusal(error: unknown): Refusal {
  if (typeof error === 'object' && error !== null && 'message' in error) {
    const { message, code, causes, reason } = error as Partial<Refusal>
    return { message: String(message), code: code ?? 0, causes: causes ?? [], ...(reason ? { reason } : {}) }
  }
  return { message: String(error), code: 0, causes: [] }
}
