// What the command palette finds: a few entries of each group, best match first.

/** arguments: of the verb that is being completed. */
export type PaletteGroup =
  | 'answers'
  | 'glossary'
  | 'lessons'
  | 'arguments'
  | 'actions'
  | 'places'
  | 'plugins'
  | 'pods'
  | 'nodes'
  | 'boards'
  | 'kinds'

export interface PaletteEntry {
  id: string
  group: PaletteGroup
  icon: string
  title: string
  /** Shown beside the title and searched, too. */
  detail?: string | undefined
  /** The detail is a sentence, which is shown whole. */
  wraps?: boolean
  /** Shown at the end of the line, not searched. */
  note?: string | undefined
  /** Running it leaves the palette open. */
  stays?: boolean
  run: () => void
}

/** Sources return entries in their own order. Creating an entry is expensive, so only matches are created. */
export interface PaletteSource<T = unknown> {
  group: PaletteGroup
  items: Iterable<T>
  text(item: T): string
  entry(item: T): PaletteEntry
  /** The maximum number of entries shown. */
  most: number
  /** Shown for an empty query. */
  always?: boolean
}

/** "> taint": a leading sign restricts the search to one group. */
const signs: Record<string, readonly PaletteGroup[]> = {
  '>': ['actions'],
  '@': ['pods'],
  '#': ['nodes'],
  '?': ['glossary', 'lessons'],
}

export function parseQuery(text: string): { words: string[]; groups: readonly PaletteGroup[] | undefined } {
  const groups = signs[text.trimStart().charAt(0)]
  const rest = groups ? text.trimStart().slice(1) : text
  return { words: rest.toLowerCase().split(/\s+/).filter(Boolean), groups }
}

/** Words of a question that are in no name. */
const small = new Set(
  (
    'a an and are at be been can could did do does for go has have how i in is it its me my no ' +
    'not of on or please s so tell than that the their there this to was what when where which who why will with would you'
  ).split(' ')
)

/** The words of a question that say what it is about, in lower case; all of them if none does. */
export function aboutWords(text: string): string[] {
  const words = text
    .toLowerCase()
    .split(/[\s?!,;:？！、。]+/)
    .filter(Boolean)
  const about = words.filter((word) => !small.has(word))
  return about.length ? about : words
}

/**
 * Lower is better; undefined when a word is missing. A match at the start or after a separator
 * ranks higher.
 */
export function rank(text: string, words: readonly string[]): number | undefined {
  const lower = text.toLowerCase()
  let sum = words.length ? lower.length / 100 : 0
  for (const word of words) {
    const at = lower.indexOf(word)
    if (at < 0) return undefined
    const starts = at === 0 || /[^a-z0-9]/.test(lower.charAt(at - 1)) || /[A-Z]/.test(text.charAt(at))
    sum += at === 0 ? 0 : starts ? 1 : 3
  }
  return sum
}

export function search(sources: readonly PaletteSource<never>[], text: string): PaletteEntry[] {
  const { words, groups } = parseQuery(text)
  return (sources as readonly PaletteSource[]).flatMap((source) => {
    if (groups ? !groups.includes(source.group) : !words.length && !source.always) return []
    const best: { item: unknown; rank: number }[] = []
    for (const item of source.items) {
      const found = rank(source.text(item), words)
      if (found === undefined) continue
      const worst = best.at(-1)
      if (best.length >= source.most && worst && worst.rank <= found) continue
      best.push({ item, rank: found })
      // The sort is stable, so equal entries stay in the source's order.
      best.sort((a, b) => a.rank - b.rank)
      best.length = Math.min(best.length, source.most)
    }
    return best.map(({ item }) => source.entry(item))
  })
}

/** The text split at the matched words. */
export function marked(text: string, query: string): { text: string; hit: boolean }[] {
  const { words } = parseQuery(query)
  if (!words.length) return [{ text, hit: false }]
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return text
    .split(new RegExp(`(${escaped.join('|')})`, 'gi'))
    .map((part, i) => ({ text: part, hit: i % 2 === 1 }))
    .filter((part) => part.text !== '')
}
