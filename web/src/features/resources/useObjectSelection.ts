// The selected rows of the table.

import { computed, ref, watch, type ComputedRef, type Ref, type WatchSource } from 'vue'
import type { TableRow } from './model/table'

export interface ObjectSelection {
  /** Keys of the selected rows that are visible. Actions do not apply to hidden ones. */
  selected: ComputedRef<ReadonlySet<string>>
  check(keys: ReadonlySet<string>): void
  clear(): void
}

/** scope identifies the list of rows; a change of it clears the selection. */
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
  }
}
