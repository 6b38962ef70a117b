// The selected rows of the table.

import { computed, ref, watch, type Ref, type WatchSource } from 'vue'
import type { TableRow } from './model/table'

/** scope identifies the list of rows; a change of it clears the selection. */
export function useObjectSelection(rows: Ref<readonly TableRow[]>, scope: WatchSource<unknown>[]) {
  const checked = ref<ReadonlySet<string>>(new Set<string>())
  const clear = () => {
    checked.value = new Set()
  }
  watch(scope, clear)
  return {
    /** Keys of the selected rows that are visible. Actions do not apply to hidden ones. */
    selected: computed(() => {
      if (!checked.value.size) return checked.value
      return new Set(rows.value.filter((row) => checked.value.has(row.key)).map((row) => row.key))
    }),
    check(keys: ReadonlySet<string>) {
      checked.value = keys
    },
    clear,
  }
}
