// The versions of one object, followed while a page shows it.

import { useIntervalFn, useTimeoutFn } from '@vueuse/core'
import { computed, ref, shallowRef, watch } from 'vue'
import { ApiError } from '@/api/http'
import { getObject } from '@/api/kubernetes'
import type { KubeObject } from '@/api/types'
import { useTurns } from '@/live/answer'
import type { ObjectRef } from '@/kubernetes/object'
import { keyOf } from './model/objectText'

export interface ShownObject extends ObjectRef {
  /** Changes whenever the object may have changed; undefined while the list does not contain it. */
  live: unknown
}

export type ObjectVersions = ReturnType<typeof useObjectVersions>

/** Changes come in bursts; the object is requested once they pause for this long (ms). */
const settleFor = 150
/** The polling interval for an object that the list does not contain (ms). */
const askEvery = 5000

/**
 * Follows the object while the calling scope lives. While hold returns true, a newer version
 * goes to `newest` and does not replace the shown one. shown is called with each shown version.
 */
export function useObjectVersions(
  of: Readonly<ShownObject>,
  { hold, shown }: { hold: () => boolean; shown: (object: KubeObject) => void }
) {
  const object = shallowRef<KubeObject>()
  /** A newer version that arrived while the page held the shown one. */
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

  /** Responses to earlier requests are older and are ignored. */
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
      // An object with the same name and another uid is not the shown one.
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
    { immediate: true }
  )
  const { start: lookSoon } = useTimeoutFn(() => void look(), settleFor, { immediate: false })
  watch(() => of.live, lookSoon)
  useIntervalFn(() => {
    if (of.live === undefined && !document.hidden && !gone.value) lookSoon()
  }, askEvery)

  return {
    object,
    newest,
    gone,
    error,
    key,
    look,
    show,
    wrote,
    outdated: computed(
      () => !!newest.value && newest.value.metadata.resourceVersion !== object.value?.metadata.resourceVersion
    ),
  }
}
