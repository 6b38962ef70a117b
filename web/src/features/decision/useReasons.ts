// Which reasons of the Filter matrix are unfolded, and the rows of the table that follow from it.

import { computed, ref, watch } from 'vue'
import type { RowSort } from './model/matrix'
import { linesOf, reasonsOf, type Line, type Reason, type ReasonContext } from './model/reasons'

/** A few rows show more than their reasons would. */
export const fewNodes = 12

export function useReasons(
  props: Readonly<ReasonContext & { node: string; text: string }>,
  rows: () => Int32Array,
  sorted: () => RowSort
) {
  const byReason = computed(() => sorted() === 'reason')
  const reasons = computed(() => (byReason.value ? reasonsOf(props, rows()) : []))
  const chosenByUser = ref(new Map<string, boolean>())
  /** A search shows what it found, and there is nothing to choose from when all nodes share a reason. */
  const isOpen = ({ key }: Reason) => chosenByUser.value.get(key) ?? (!!props.text || reasons.value.length === 1)
  const lines = computed((): Line[] =>
    byReason.value ? linesOf(reasons.value, isOpen) : Array.from(rows(), (row) => ({ row }))
  )
  /** The reason that the keyboard is at; a node's cell is in the URL instead. */
  const at = ref('')
  // A link to a cell unfolds the reason that its node is in.
  watch(
    [() => props.node, () => props.matrix],
    ([node]) => {
      const row = node ? props.matrix.nodes.indexOf(node) : -1
      const reason = reasons.value.find(({ rows }) => rows.includes(row))
      if (reason && !isOpen(reason)) chosenByUser.value.set(reason.key, true)
    },
    { immediate: true }
  )
  return {
    byReason,
    reasons,
    lines,
    isOpen,
    at,
    toggle(reason: Reason, open = !isOpen(reason)) {
      chosenByUser.value.set(reason.key, open)
    },
  }
}
