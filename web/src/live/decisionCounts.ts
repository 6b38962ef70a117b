// Counts of the decisions that the server keeps, which are more than those that are loaded.

import { createSharedComposable, useThrottleFn } from '@vueuse/core'
import { watch, type ShallowRef } from 'vue'
import { listResults } from '@/api/simulator'
import type { Counts } from '@/api/types'
import { useAnswer } from './answer'
import { connection } from './status'
import { results } from './watched'

/** While decisions stream in, they are counted this often (ms). */
const countEvery = 2000

/** Counted again while decisions arrive, as long as a component uses it. */
export const useDecisionCounts = createSharedComposable((): ShallowRef<Counts | undefined> => {
  const { value, ask } = useAnswer(async (signal) => (await listResults({ counts: true, limit: 1 }, signal)).counts)
  watch(
    () => connection.value.kind === 'live',
    () => void ask(),
    { immediate: true }
  )
  const again = useThrottleFn(() => void ask(), countEvery, true)
  watch(results, () => void again())
  return value
})
