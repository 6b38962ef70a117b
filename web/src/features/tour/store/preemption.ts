// The situation for the tour's last part: a full node, and an urgent pod.

import { itemsOf, perform } from '@/features/create/model/batch'
import { templates } from '@/features/create/model/templates'
import { creator, currentFreeNames } from '@/features/create/store/create'
import { parseText } from '@/features/yaml/model/documents'

/** Creates the template of a full node. Rejects with the first refusal. */
export async function createPreemption(): Promise<void> {
  const made = templates.find(({ id }) => id === 'fullNode')?.make(currentFreeNames())
  const items = itemsOf(parseText(made?.text ?? '').entries)
  await perform(items, creator)
  const refused = items.find((item) => item.state.kind === 'failed')
  if (refused?.state.kind === 'failed') throw new Error(refused.state.refusal.message)
}
