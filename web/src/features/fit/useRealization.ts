// Making a hypothesis real: reads the objects as they are, works out the writes, tries each
// in a dry run, and makes them after the user has confirmed.

import { computed, onScopeDispose, ref, shallowRef } from 'vue'
import { applyConfiguration, tryConfiguration } from '@/api/configuration'
import { newAction } from '@/api/http'
import { askCopies } from '@/api/whatif'
import type { Applied, Change, ChangeTarget, KubeObject, Pod } from '@/api/types'
import { makeWrites, tryWrites, type Result } from '@/features/act/store/changes'
import { fetchObject } from '@/features/act/store/objects'
import { done } from '@/features/act/done'
import { isSameTarget, makesCopies, targetOf, type Hypothesis } from '@/features/whatif/model/hypothesis'
import { ownerOf } from '@/kubernetes/pods'
import { workloadOf } from '@/kubernetes/workloads'
import { nodes, pods } from '@/live/watched'
import { realChanges, writesOf, type Present, type RealChange } from './model/realChanges'
import { kindOf, wholeObject } from './useObjects'

/** One line of the confirmation: a change, and what its dry runs said. */
export interface Tested {
  change: RealChange
  refused: unknown
}

export function useRealization({ changes, configuration: document }: Pick<Hypothesis, 'changes' | 'configuration'>) {
  const tested = shallowRef<readonly Tested[]>()
  const configuration = shallowRef<Applied>()
  /** Why the changes could not be worked out, or why the configuration was rejected. */
  const failure = shallowRef<unknown>()
  const failed = shallowRef<readonly Result[]>([])
  const phase = ref<'testing' | 'asking' | 'making' | 'failed'>('testing')
  const abort = new AbortController()
  const action = newAction('apply')
  onScopeDispose(() => abort.abort())

  async function test() {
    phase.value = 'testing'
    failure.value = undefined
    try {
      const real = realChanges(changes, await presentOf(changes))
      if (document !== undefined) configuration.value = await tryConfiguration(document, abort.signal)
      const results = await tryWrites(writesOf(real))
      if (abort.signal.aborted) return
      tested.value = real.map((change) => ({
        change,
        refused:
          change.kind === 'impossible'
            ? undefined
            : results.find(({ write, error }) => error !== undefined && change.writes.includes(write))?.error,
      }))
      phase.value = 'asking'
    } catch (error) {
      if (abort.signal.aborted) return
      failure.value = error
      phase.value = 'asking'
    }
  }

  async function make(): Promise<boolean> {
    const writes =
      phase.value === 'failed'
        ? failed.value.map((result) => result.write)
        : writesOf((tested.value ?? []).map(({ change }) => change))
    phase.value = 'making'
    failure.value = undefined
    try {
      if (document !== undefined && configuration.value) await applyConfiguration(document)
      configuration.value = undefined
    } catch (error) {
      failure.value = error
      phase.value = 'asking'
      return false
    }
    // What the user has confirmed is made, even if the page is left meanwhile.
    const results = await makeWrites(writes, {
      signal: new AbortController().signal,
      progress: () => {},
      action,
      inOrder: true,
    })
    failed.value = results.filter((result) => result.error !== undefined)
    if (writes.length) done('suppose', results)
    phase.value = failed.value.length ? 'failed' : 'asking'
    return !failed.value.length
  }

  return {
    tested,
    configuration,
    failure,
    failed,
    phase,
    ready: computed(
      () =>
        phase.value === 'failed' ||
        (phase.value === 'asking' &&
          !failure.value &&
          !!tested.value?.every(({ change, refused }) => change.kind !== 'impossible' && refused === undefined) &&
          (tested.value.length > 0 || !!configuration.value))
    ),
    test,
    make,
  }
}

/** Reads every object that the changes are about, and the workloads of their pods. */
async function presentOf(changes: readonly Change[]): Promise<Present> {
  const targets = changes.filter((change) => !makesCopies(change)).map(targetOf)
  const copies = new Map<Change, readonly Change[]>()
  for (const change of changes)
    if (makesCopies(change) && change.apply?.kind === 'Node') copies.set(change, await askCopies(change))
  const found: { target: ChangeTarget; object: KubeObject | undefined; workload: ReturnType<Present['workloadOf']> }[] =
    []
  for (const target of targets) {
    if (found.some((one) => isSameTarget(one.target, target))) continue
    const object = await wholeObject(target)
    found.push({ target, object, workload: object && target.kind === 'Pod' ? await madeBy(object as Pod) : undefined })
  }
  return {
    kindOf,
    copiesOf: (change) => copies.get(change),
    objectOf(target) {
      const one = found.find((other) => isSameTarget(other.target, target))
      // Only the names that are taken matter for copies.
      return one
        ? one.object
        : target.kind === 'Node'
          ? nodes.value.items.get(target.name)
          : pods.value.items.get(`${target.namespace ?? 'default'}/${target.name}`)
    },
    workloadOf: (pod) => found.find((one) => one.object?.metadata.uid === pod.metadata.uid)?.workload,
  }
}

async function madeBy(pod: Pod): Promise<ReturnType<Present['workloadOf']>> {
  const owner = ownerOf(pod)
  const of = owner && workloadOf(owner)
  return of && { kind: of.kind, object: await fetchObject(of) }
}
