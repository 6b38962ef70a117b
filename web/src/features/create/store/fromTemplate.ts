// Creating a template without the dialog, for places that show what the template shows.

import { parseText } from '@/features/yaml/model/documents'
import { itemsOf, perform } from '../model/batch'
import type { TemplateId } from '../model/templateIds'
import { templates } from '../model/templates'
import { creator, currentFreeNames } from './create'

/** Creates the objects of a template. Rejects with the first refusal. */
export async function createFromTemplate(id: TemplateId): Promise<void> {
  const made = templates.find((template) => template.id === id)?.make(currentFreeNames())
  const items = itemsOf(parseText(made?.text ?? '').entries)
  await perform(items, creator)
  const refused = items.find((item) => item.state.kind === 'failed')
  if (refused?.state.kind === 'failed') throw new Error(refused.state.refusal.message)
}
