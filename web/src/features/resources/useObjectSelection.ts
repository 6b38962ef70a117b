// The rows that a person has checked.

import { computed, ref, watch, type ComputedRef, type Ref, type WatchSource } from 'vue'
import type { TableRow } from './model/table'

export interface ObjectSelection {
  /** Keys of the checked rows that are shown; actions leave hidden ones alone. */
  selected: ComputedRef<ReadonlySet<string>>
  check(keys: ReadonlySet<string>): void
  clear(): void
  /** Takes keys out, such as those of objects that were deleted. */
  drop(keys: readonly string[]): void
}

/** scope is what makes the rows another list; a change of it clears the selection. */
export function useObjectSelection(rows: Ref<readonly TableRow[]>, scope: WatchSource<unknown>[]): ObjectSelection {
  const checked = ref<ReadonlySet<string>>(new Set<string>())
  const clear = () => {
    checked.value = new Set()
  }
  watch(scope, clear)
  return {
    selected: computed(() => {
      if (!checked.value.size) return checked.value
      return new Set(rows.value.filter((row) => checked.value.has(row.key)).map((row) => row.key))
    }),
    check(keys) {
      checked.value = keys
    },
    clear,
    drop(keys) {
      const away = new Set(keys)
      checked.value = new Set([...checked.value].filter((key) => !away.has(key)))
    },
  }
}
