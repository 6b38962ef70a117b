// The templates that a search finds, by topic.

import { finder } from '@/kubernetes/search'
import { templateTopics, type TemplateId, type TemplateTopic } from './templateIds'

export interface FoundTopic {
  topic: TemplateTopic
  ids: readonly TemplateId[]
}

/**
 * The topics with the templates that have every word of `text`. `textOf` is what is known of a
 * template: its name, its sentence, its kinds.
 */
export function findTemplates(text: string, textOf: (id: TemplateId) => string): FoundTopic[] {
  const found = finder(text)
  const matches = (id: TemplateId) => !found || found(textOf(id))
  return (Object.keys(templateTopics) as TemplateTopic[])
    .map((topic) => ({ topic, ids: (templateTopics[topic] as readonly TemplateId[]).filter(matches) }))
    .filter(({ ids }) => ids.length)
}

/** The kinds of a manifest, each once: Node, Pod. */
export function kindsOf(text: string): string[] {
  return [...new Set([...text.matchAll(/^kind: (\w+)/gm)].map((match) => match[1] ?? ''))]
}
