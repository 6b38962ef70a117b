// Sets the weight of a plugin, or switches it on or off at an extension point, in a configuration's
// text. The text stays as small as it can be, and nothing else in it changes.

import { isMap, isScalar, isSeq, parseDocument, type Document, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml'

/** What is set. */
export interface Dial {
  plugin: string
  /** The extension point as the configuration spells it. */
  point: string
  /** The schedulerName of the profile; '' for the first one. */
  profile?: string
  /** The weight that the plugin has here by default; undefined if it does not run here by default. */
  usual?: number
}

type Path = (string | number)[]

/**
 * The text with the plugin's weight. A plugin that multiPoint enables gets its weight there; any
 * other at the extension point, where it overrides the default that multiPoint stands for. The usual
 * weight needs no text. Without a weight the plugin is off. The same text if it cannot be parsed.
 */
export function withWeight(text: string, dial: Dial, weight: number): string {
  if (weight === 0) return withPlugin(text, dial, false)
  return edited(text, dial, (document, path) => {
    drop(document, [...path, dial.point, 'disabled'], dial.plugin)
    const places = [dial.point, 'multiPoint'].map((point) => [...path, point, 'enabled'])
    const found = places.find((place) => entryOf(document, place, dial.plugin))
    if (found && weight === dial.usual && !clears(document, [...path, String(found.at(-2)), 'disabled'])) {
      const entry = entryOf(document, found, dial.plugin)
      entry?.delete('weight')
      if (entry?.items.length === 1) drop(document, found, dial.plugin)
      return undefined
    }
    const entry = found && entryOf(document, found, dial.plugin)
    const scalar = entry?.get('weight', true)
    // The number alone changes: the rest of the text keeps even its spaces.
    if (isScalar(scalar)) return { scalar, value: weight }
    if (entry) entry.set('weight', weight)
    else if (weight !== dial.usual || !runsByDefault(document, path, dial))
      add(document, [...path, dial.point, 'enabled'], { name: dial.plugin, weight })
    return undefined
  })
}

/** The text with the plugin on, or off, at the extension point. The same text if it cannot be parsed. */
export function withPlugin(text: string, dial: Dial, on: boolean): string {
  return edited(text, dial, (document, path) => {
    const enabled = [...path, dial.point, 'enabled']
    const disabled = [...path, dial.point, 'disabled']
    if (on) {
      drop(document, disabled, dial.plugin)
      if (!runsByDefault(document, path, dial) && !entryOf(document, enabled, dial.plugin))
        add(document, enabled, { name: dial.plugin })
      return undefined
    }
    drop(document, enabled, dial.plugin)
    if (runsByDefault(document, path, dial) && !entryOf(document, disabled, dial.plugin))
      add(document, disabled, { name: dial.plugin })
    return undefined
  })
}

/** multiPoint runs the plugin here, unless the extension point disables it. */
function runsByDefault(document: Document, path: Path, { plugin, point, usual }: Dial): boolean {
  if (clears(document, [...path, point, 'disabled'])) return false
  if (entryOf(document, [...path, 'multiPoint', 'enabled'], plugin)) return true
  const off = [...path, 'multiPoint', 'disabled']
  return usual !== undefined && !clears(document, off) && !entryOf(document, off, plugin)
}

/** The list disables every plugin that is there by default. */
const clears = (document: Document, disabled: Path) => !!entryOf(document, disabled, '*')

/** A number to replace. */
interface Replaced {
  scalar: Scalar
  value: number
}

function edited(text: string, dial: Dial, edit: (document: Document, plugins: Path) => Replaced | undefined): string {
  const document = parseDocument(text)
  if (document.errors.length || !isMap(document.contents)) return text
  const at = profileIndex(document, dial.profile ?? '')
  if (at < 0) return text
  const before = String(document)
  const replaced = edit(document, ['profiles', at, 'plugins'])
  const range = replaced?.scalar.range
  if (before === String(document))
    return range ? text.slice(0, range[0]) + String(replaced.value) + text.slice(range[1]) : text
  if (replaced) replaced.scalar.value = replaced.value
  return document.toString({ indentSeq: indentsLists(text), lineWidth: 0 })
}

/** Lists are further to the right than their keys, as in the text; by default they are not. */
const indentsLists = (text: string) => /^( *)[^\s#-][^\n]*:[ \t]*\n\1 +- /m.test(text)

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

function add(document: Document, path: Path, item: object): void {
  const list = document.getIn(path)
  const made = document.createNode(item)
  if (isSeq(list)) list.items.push(made)
  else document.setIn(path, document.createNode([item]))
}

/** Removes the plugin from a list, and what is then empty above it. */
function drop(document: Document, path: Path, plugin: string): void {
  const list = document.getIn(path)
  if (!isSeq(list)) return
  const at = list.items.findIndex((item) => isMap(item) && item.get('name') === plugin)
  if (at < 0) return
  list.items.splice(at, 1)
  // plugins, the extension point and the list; the profile stays.
  for (let end = path.length; end > 2; end--) {
    const here = path.slice(0, end)
    const node = document.getIn(here)
    if (!((isSeq(node) || isMap(node)) && !node.items.length)) break
    document.deleteIn(here)
  }
}

function entryOf(document: Document, path: Path, plugin: string): YAMLMap | undefined {
  const list = document.getIn(path)
  if (!isSeq(list)) return undefined
  return (list as YAMLSeq).items.find((item): item is YAMLMap => isMap(item) && item.get('name') === plugin)
}

/** Parses the link that changes a weight: Plugin=5. */
export function parseWeight(text: string): { plugin: string; weight: number } | undefined {
  const match = /^([^=\s]+)=([1-9]\d{0,2})$/.exec(text)
  return match?.[1] ? { plugin: match[1], weight: Number(match[2]) } : undefined
}
