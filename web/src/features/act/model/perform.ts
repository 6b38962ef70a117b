// Performs writes through the API server, for real or as a server-side dry run.

import { ApiError } from '@/api/http'
import { messageOf } from '@/api/message'
import type { KindInfo, KubeObject, Pod } from '@/api/types'
import { hasValues, taintsAfter, taintsOf, without, type Write } from './write'
import type { ObjectRef } from '@/kubernetes/object'
import { same } from '@/kubernetes/merge'
import { withoutServerMetadata } from '@/kubernetes/object'

/** What performing a write needs from its caller; each request is a dry run if asked. */
export interface Server {
  get(of: ObjectRef): Promise<KubeObject>
  patch(of: ObjectRef, patch: object, dryRun: boolean, subresource?: 'status' | 'resize'): Promise<KubeObject>
  create(kind: KindInfo, namespace: string | undefined, object: KubeObject, dryRun: boolean): Promise<KubeObject>
  /** A pod is removed at once, unless it has its grace period. */
  remove(of: ObjectRef, options: { dryRun: boolean; uid: string | undefined; grace?: boolean }): Promise<void>
  pause(ms: number): Promise<void>
}

/** An object before and after a write; undefined where it does not exist. */
export interface Effect {
  before: KubeObject | undefined
  after: KubeObject | undefined
}

/** The object has changed since, so undoing would overwrite another change. */
export class ChangedSince extends Error {
  constructor() {
    super('the object has changed since')
    this.name = 'ChangedSince'
  }
}

/** The object was deleted, but could not be created again. */
export class NotRecreated extends Error {
  constructor(
    readonly before: KubeObject,
    cause: unknown
  ) {
    super(messageOf(cause), { cause })
    this.name = 'NotRecreated'
  }
}

/** How often a write that depends on the object's version is retried when another client is faster. */
const tries = 5
/** How long the name of a deleted object may stay taken: finalizers run first (ms). */
const nameFreeAfter = 10_000
const nameRetry = 250

/** Throws ApiError when the server refuses, ChangedSince, and NotRecreated. */
export async function perform(write: Write, server: Server, dryRun: boolean): Promise<Effect> {
  switch (write.op) {
    case 'merge':
    case 'taints':
      return change(write, server, dryRun)
    case 'delete': {
      const before = await server.get(write.of)
      await server.remove(write.of, { dryRun, uid: write.uid ?? before.metadata.uid })
      return { before, after: undefined }
    }
    case 'evict':
      return evict(write, server, dryRun)
    case 'create':
      return {
        before: undefined,
        after: await server.create(write.of.kind, write.of.namespace, withoutServerMetadata(write.object), dryRun),
      }
    default:
      return recreate(write, server, dryRun)
  }
}

/** The condition that the taint eviction controller gives a pod before it deletes it. */
const evicted = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
}

async function evict({ of, at }: Extract<Write, { op: 'evict' }>, server: Server, dryRun: boolean): Promise<Effect> {
  for (let n = 1; ; n++) {
    const before = await server.get(of)
    const { resourceVersion, uid } = before.metadata
    const others = ((before as Pod).status?.conditions ?? []).filter(({ type }) => type !== evicted.type)
    try {
      await server.patch(
        of,
        { metadata: { resourceVersion }, status: { conditions: [...others, { ...evicted, lastTransitionTime: at }] } },
        dryRun,
        'status'
      )
    } catch (error) {
      if (n >= tries || !(error instanceof ApiError) || error.code !== 409) throw error
      continue
    }
    await server.remove(of, { dryRun, uid, grace: true })
    return { before, after: undefined }
  }
}

async function change(
  write: Extract<Write, { op: 'merge' | 'taints' }>,
  server: Server,
  dryRun: boolean
): Promise<Effect> {
  for (let n = 1; ; n++) {
    const before = await server.get(write.of)
    const patch = patchFor(write, before)
    if (!patch) return { before, after: before }
    try {
      return {
        before,
        after: await server.patch(write.of, patch, dryRun, write.op === 'merge' ? write.subresource : undefined),
      }
    } catch (error) {
      if (n >= tries || !(error instanceof ApiError) || error.code !== 409) throw error
    }
  }
}

/** The merge patch; undefined when there is nothing to change. */
function patchFor(write: Extract<Write, { op: 'merge' | 'taints' }>, before: KubeObject): object | undefined {
  const { resourceVersion } = before.metadata
  if (write.op === 'taints') {
    const [old, taints] = [taintsOf(before), taintsAfter(taintsOf(before), write)]
    return same(old, taints)
      ? undefined
      : { metadata: { resourceVersion }, spec: { taints: taints.length ? taints : null } }
  }
  if (hasValues(before, write.patch)) return undefined
  if (!write.expect) return write.patch
  if (!hasValues(before, write.expect)) throw new ChangedSince()
  return { ...write.patch, metadata: { ...(write.patch.metadata as object | undefined), resourceVersion } }
}

async function recreate(
  { of, object }: Extract<Write, { op: 'recreate' }>,
  server: Server,
  dryRun: boolean
): Promise<Effect> {
  const before = await server.get(of)
  if (dryRun) {
    await server.remove(of, { dryRun, uid: before.metadata.uid })
    // The name is still taken, so the server tries the object under another one.
    const metadata = { ...without(object.metadata, ['name']), generateName: `${of.name.slice(0, 200)}-` }
    const tried = await server.create(
      of.kind,
      of.namespace,
      { ...object, metadata: metadata as unknown as KubeObject['metadata'] },
      true
    )
    return { before, after: { ...tried, metadata: { ...without(tried.metadata, ['generateName']), name: of.name } } }
  }
  await server.remove(of, { dryRun, uid: before.metadata.uid })
  for (let waited = 0; ; waited += nameRetry) {
    try {
      return { before, after: await server.create(of.kind, of.namespace, object, false) }
    } catch (error) {
      if (waited >= nameFreeAfter || !(error instanceof ApiError) || error.reason !== 'AlreadyExists')
        throw new NotRecreated(before, error)
      await server.pause(nameRetry)
    }
  }
}
