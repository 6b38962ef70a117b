// One object as the API server has it, followed while a page shows it.

import { useIntervalFn, useTimeoutFn } from '@vueuse/core'
import { computed, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { ApiError } from '@/api/http'
import { getObject } from '@/api/kubernetes'
import type { KubeObject } from '@/api/types'
import { useTurns } from '@/live/answer'
import { keyOf, type ObjectRef } from './model/objectText'

/** What is followed, and what the list that shows it knows. */
export interface ShownObject extends ObjectRef {
  /** Another value once the object may have changed; undefined while the list does not show it. */
  live: unknown
}

export interface ObjectVersions {
  /** The version on the page. */
  object: ShallowRef<KubeObject | undefined>
  /** What the server has now, when that came while the page held on to its version. */
  newest: ShallowRef<KubeObject | undefined>
  outdated: ComputedRef<boolean>
  /** The object is deleted, or another one has its name. */
  gone: Ref<boolean>
  /** Why the last request failed. */
  error: ShallowRef<unknown>
  /** Changes when another object is shown. */
  key: ComputedRef<string>
  look(): Promise<void>
  /** Puts a version on the page. */
  show(found: KubeObject): void
  /** Puts what a write returned on the page. Answers to what was asked before the write are older and are ignored. */
  wrote(found: KubeObject): void
}

/** Changes come in bursts; the object is asked for once they pause for so long (ms). */
const settleFor = 150
/** An object that its list does not show is asked for this often (ms). */
const askEvery = 5000

/**
 * Follows the object for as long as the calling scope lives. While hold says so, a newer
 * version is kept beside the shown one. shown is called with each version that is put on the page.
 */
export function useObjectVersions(of: Readonly<ShownObject>, { hold, shown }: { hold: () => boolean; shown: (object: KubeObject) => void }): ObjectVersions {
  const object = shallowRef<KubeObject>()
  const newest = shallowRef<KubeObject>()
  const gone = ref(false)
  const error = shallowRef<unknown>()
  const key = computed(() => keyOf(of))
  const turns = useTurns()

  function show(found: KubeObject) {
    object.value = found
    newest.value = undefined
    gone.value = false
    shown(found)
  }

  function wrote(found: KubeObject) {
    turns.end()
    show(found)
  }

  async function look() {
    const signal = turns.next()
    try {
      const found = await getObject(of.kind, of.namespace, of.name)
      if (signal.aborted) return
      error.value = undefined
      if (!hold()) return show(found)
      // Another object of the same name is not the one on the page.
      gone.value = !!object.value && found.metadata.uid !== object.value.metadata.uid
      newest.value = found
    } catch (reason) {
      if (signal.aborted) return
      if (reason instanceof ApiError && reason.code === 404) gone.value = !!object.value
      if (!(gone.value && object.value)) error.value = reason
    }
  }

  watch(
    key,
    () => {
      object.value = undefined
      newest.value = undefined
      gone.value = false
      error.value = undefined
      void look()
    },
    { immediate: true },
  )
  const { start: lookSoon } = useTimeoutFn(() => void look(), settleFor, { immediate: false })
  watch(() => of.live, lookSoon)
  useIntervalFn(() => {
    if (of.live === undefined && !document.hidden && !gone.value) lookSoon()
  }, askEvery)

  return { object, newest, gone, error, key, look, show, wrote, outdated: computed(() => !!newest.value && newest.value.metadata.resourceVersion !== object.value?.metadata.resourceVersion) }
}
