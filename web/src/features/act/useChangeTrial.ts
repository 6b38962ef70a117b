// The dry run of the change that the dialog is about: a moment after each change of the input.

import { useTimeoutFn } from '@vueuse/core'
import { computed, shallowRef, watch, type Ref } from 'vue'
import { useTurns } from '@/live/answer'
import { effectText } from './model/effectText'
import type { Write } from './model/write'
import { tryWrites, type Result } from './store/changes'

/** Typing must not send a request for each key (ms). */
const wait = 250

export function useChangeTrial(writes: Ref<readonly Write[]>) {
  /** Of the newest writes; undefined while they are being tried. */
  const results = shallowRef<readonly Result[]>()
  const turns = useTurns()
  async function run() {
    const signal = turns.next()
    const found = await tryWrites(writes.value)
    if (!signal.aborted) results.value = found
  }
  const soon = useTimeoutFn(() => void run(), wait, { immediate: false })
  watch(
    writes,
    (now, before) => {
      turns.end()
      results.value = undefined
      if (before === undefined) void run()
      else soon.start()
      if (!now.length) soon.stop()
    },
    { immediate: true }
  )
  /** The difference that one of the writes makes; undefined when there is nothing to compare. */
  const difference = (at: number) => {
    const result = results.value?.[at]
    if (!result?.effect || result.write.op === 'delete') return undefined
    return effectText(result.write.of.kind, result.effect)
  }
  return {
    results,
    refused: computed(() => results.value?.find((r) => r.error !== undefined)?.error),
    difference,
    idle: computed(() => {
      const all = results.value
      return (
        !!all?.length &&
        all.every((_, at) => {
          const texts = difference(at)
          return !!texts && texts.before === texts.after
        })
      )
    }),
    again: () => void run(),
  }
}
