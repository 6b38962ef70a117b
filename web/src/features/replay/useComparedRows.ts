// Decisions beside recorded ones, as the rows of a table. Filters, sort order and the open row are
// kept in the URL.

import { computed, type Ref } from 'vue'
import type { ReplayDecision } from '@/api/replay'
import { t } from '@/i18n'
import { useQuery } from '@/ui/query'
import { decisionKey, filterDecisions, sortDecisions, type Why } from './model/replayDecisions'
import { reasonText } from './model/reason'

export type ComparedRows = ReturnType<typeof useComparedRows>

export function useComparedRows(items: Ref<readonly ReplayDecision[]>, sortedBy: string) {
  const text = useQuery('q')
  const sort = useQuery<string>('sort', sortedBy)
  /** The key of the open decision; '' for none. */
  const select = useQuery('select')
  const why: Why = (d) => reasonText(d.reason, (key, values) => t(key, values))
  const rows = computed(() => sortDecisions(filterDecisions(items.value, text.value, why), sort.value, why))
  return {
    text,
    sort,
    rows,
    select,
    opened: computed(() => rows.value.find((d) => decisionKey(d) === select.value)),
    why,
    toggle(decision: ReplayDecision) {
      const key = decisionKey(decision)
      select.value = select.value === key ? '' : key
    },
  }
}
