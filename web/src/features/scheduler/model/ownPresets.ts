// Configurations that somebody has kept under names of their own, beside the presets
// that everybody has.

export interface OwnPreset {
  name: string
  text: string
}

const nameAtMost = 60
/** In all, so that what a browser keeps for the page does not run out. */
const charactersAtMost = 1_000_000

/** What a draft's origin is called when it began as one of them; no name of a preset or revision begins so. */
export const ownOrigin = (name: string) => `own:${name}`
export const nameOfOwn = (origin: string) => (origin.startsWith('own:') ? origin.slice(4) : undefined)

/** A name as it is kept. */
export const tidyName = (name: string) => name.trim().replace(/\s+/g, ' ').slice(0, nameAtMost)

/** With one more, in the order of their names; one of the same name gives way. undefined when they would be too much. */
export function withPreset(presets: readonly OwnPreset[], added: OwnPreset): OwnPreset[] | undefined {
  const next = [...withoutPreset(presets, added.name), added].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
  return next.reduce((sum, p) => sum + p.name.length + p.text.length, 0) > charactersAtMost ? undefined : next
}

export function withoutPreset(presets: readonly OwnPreset[], name: string): OwnPreset[] {
  return presets.filter((p) => p.name !== name)
}

/** What it is about: the words of its first comment; '' when it begins without one. */
export function aboutOf(text: string): string {
  const words: string[] = []
  for (const line of text.split('\n')) {
    const comment = /^#\s*(.*)$/.exec(line.trim())
    if (comment) words.push(comment[1] ?? '')
    else if (line.trim() || words.length) break
  }
  return words.join(' ').trim()
}

/** Reads what JSON.stringify made of them; what is none is left out. */
export function readPresets(stored: string | null): OwnPreset[] {
  if (!stored) return []
  try {
    const value = JSON.parse(stored) as unknown
    if (!Array.isArray(value)) return []
    return value.flatMap((p: unknown) => {
      const { name, text } = (p ?? {}) as Partial<OwnPreset>
      return typeof name === 'string' && name && typeof text === 'string' ? [{ name, text }] : []
    })
  } catch {
    return []
  }
}
