import { expect, it } from 'vitest'
import { parseText } from '@/features/yaml/model/documents'
import { freeNames, templates } from './templates'

it('has templates that parse', () => {
  const free = freeNames({ nodes: new Set(['node-1']), pods: new Set() })
  for (const template of templates) {
    const { entries, problems } = parseText(template.text(free))
    expect(problems, template.id).toEqual([])
    expect(entries.length, template.id).toBeGreaterThan(0)
  }
})
