// Which names a picker offers.

/** So many names are shown; more would not be read. */
const most = 50

export interface Offered {
  names: string[]
  /** So many of the first are recent ones. */
  recent: number
  /** So many that match are not in `names`. */
  more: number
}

/**
 * The names that contain every word: without words the recent ones first, else those that begin
 * with the text.
 */
export function offered(names: readonly string[], recent: readonly string[], text: string): Offered {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const existing = new Set(names)
  const first = words.length
    ? names.filter((name) => name.toLowerCase().startsWith(text.toLowerCase()))
    : recent.filter((name) => existing.has(name))
  const listed = new Set(first)
  const rest = names.filter((name) => !listed.has(name) && words.every((word) => name.toLowerCase().includes(word)))
  return {
    names: [...first, ...rest].slice(0, most),
    recent: words.length ? 0 : first.length,
    more: Math.max(0, first.length + rest.length - most),
  }
}

/** The recent names with one more, the newest first. */
export const remembered = (recent: readonly string[], name: string): string[] =>
  [name, ...recent.filter((one) => one !== name)].slice(0, 5)
