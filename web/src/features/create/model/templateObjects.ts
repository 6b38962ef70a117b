// The objects of a template, for an empty cluster.

import { parseText } from '@/features/yaml/model/documents'
import { freeNames } from './freeNames'
import type { TemplateId } from './templateIds'
import { templates } from './templates'

export function objectsOf(id: TemplateId): object[] {
  const made = templates.find((template) => template.id === id)?.make(freeNames({ nodes: new Set(), pods: new Set() }))
  return parseText(made?.text ?? '').entries.map(({ object }) => object)
}
