// What the command palette finds: a few of each group, best match first.

export type PaletteGroup = 'actions' | 'places' | 'plugins' | 'pods' | 'nodes' | 'kinds'

export interface PaletteEntry {
  id: string
  group: PaletteGroup
  icon: string
  title: string
  /** Beside the title; searched too. */
  detail?: string | undefined
  /** At the end of the line; not searched. */
  note?: string | undefined
  run: () => void
}

/** A source is asked for entries in its own order; making one costs, so only those that match are made. */
export interface PaletteSource<T = unknown> {
  group: PaletteGroup
  items: Iterable<T>
  text(item: T): string
  entry(item: T): PaletteEntry
  /** How many are shown at most. */
  most: number
  /** Shown without a query. */
  always?: boolean
}

/** "> taint": a sign at the front asks for one kind of thing. */
const signs: Record<string, readonly PaletteGroup[]> = { '>': ['actions', 'places'], '@': ['pods'], '#': ['nodes'] }

export function parseQuery(text: string): { words: string[]; groups: readonly PaletteGroup[] | undefined } {
  const groups = signs[text.trimStart().charAt(0)]
  const rest = groups ? text.trimStart().slice(1) : text
  return { words: rest.toLowerCase().split(/\s+/).filter(Boolean), groups }
}

/** Lower is better; undefined when a word is missing. A word at the front or after a separator counts for more. */
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
      // Stable, so that equals stay in the source's order.
      best.sort((a, b) => a.rank - b.rank)
      best.length = Math.min(best.length, source.most)
    }
    return best.map(({ item }) => source.entry(item))
  })
}

/** The text cut at the words that were searched for. */
export function marked(text: string, query: string): { text: string; hit: boolean }[] {
  const { words } = parseQuery(query)
  if (!words.length) return [{ text, hit: false }]
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return text
    .split(new RegExp(`(${escaped.join('|')})`, 'gi'))
    .map((part, i) => ({ text: part, hit: i % 2 === 1 }))
    .filter((part) => part.text !== '')
}
