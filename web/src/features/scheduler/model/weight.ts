// Changes the weight of one plugin in a configuration's text, and leaves the rest of the text as it is.

import { isMap, isSeq, parseDocument, type Document, type YAMLMap, type YAMLSeq } from 'yaml'

/**
 * The text with the plugin's weight in the first profile, or in the one with the name; the
 * same text if it cannot be parsed. A plugin that multiPoint enables gets its weight there;
 * any other at score, where it overrides the default that multiPoint stands for.
 */
export function withWeight(text: string, plugin: string, weight: number, profile = ''): string {
  const document = parseDocument(text)
  if (document.errors.length || !isMap(document.contents)) return text
  const at = profileIndex(document, profile)
  if (at < 0) return text
  const path = ['profiles', at, 'plugins']
  for (const point of ['score', 'multiPoint']) {
    const entry = entryOf(document, [...path, point, 'enabled'], plugin)
    if (!entry) continue
    entry.set('weight', weight)
    return String(document)
  }
  const enabled = [...path, 'score', 'enabled']
  const made = document.createNode({ name: plugin, weight })
  if (isSeq(document.getIn(enabled))) document.addIn(enabled, made)
  else document.setIn(enabled, document.createNode([made]))
  return String(document)
}

/** Makes the default profile if the text has none. */
function profileIndex(document: Document, name: string): number {
  const profiles = document.get('profiles')
  if (!isSeq(profiles) || !profiles.items.length) {
    document.set('profiles', document.createNode([{ schedulerName: name || 'default-scheduler' }]))
    return 0
  }
  if (!name) return 0
  return profiles.items.findIndex((item) => isMap(item) && (item.get('schedulerName') ?? 'default-scheduler') === name)
}

function entryOf(document: Document, path: (string | number)[], plugin: string): YAMLMap | undefined {
  const list = document.getIn(path)
  if (!isSeq(list)) return undefined
  return (list as YAMLSeq).items.find((item): item is YAMLMap => isMap(item) && item.get('name') === plugin)
}

/** Parses the link that changes a weight: Plugin=5. */
export function parseWeight(text: string): { plugin: string; weight: number } | undefined {
  const match = /^([^=\s]+)=([1-9]\d{0,2})$/.exec(text)
  return match?.[1] ? { plugin: match[1], weight: Number(match[2]) } : undefined
}
