// The boards that a decision is about, as links that show this decision there.

import type { Cycle } from '@/api/types'
import { groupText, type Board } from '@/kubernetes/batch'

export interface BoardLink {
  board: Board
  place: { name: Board; query: Record<string, string> }
}

export function boardsOf({
  pod,
  attempt,
  podGroup,
  facts = [],
  filter,
}: Pick<Cycle, 'pod' | 'attempt' | 'podGroup' | 'facts' | 'filter'>): BoardLink[] {
  const out: BoardLink[] = []
  const group = podGroup
    ? groupText({ system: 'native', ...podGroup })
    : facts.find(({ plugin, key }) => plugin === 'Coscheduling' && key === 'group')?.value
  if (group) out.push({ board: 'gangs', place: { name: 'gangs', query: { group } } })
  const key = `${pod.namespace}/${pod.name}`
  if (facts.some(({ plugin }) => plugin === 'CapacityScheduling'))
    out.push({ board: 'quotas', place: { name: 'quotas', query: { pod: key, attempt: String(attempt) } } })
  const aligned = [...(filter?.comparisons ?? []), ...(filter?.passes?.comparisons ?? [])].some(
    ({ plugin }) => plugin === 'NodeResourceTopologyMatch'
  )
  if (aligned) out.push({ board: 'numa', place: { name: 'numa', query: { pod: key, attempt: String(attempt) } } })
  return out
}
