// Configurations that the user saved under a name, in addition to the built-in presets.

export interface OwnPreset {
  name: string
  text: string
}

const nameAtMost = 60
/** The limit for all presets together, so that the page's storage does not run out. */
const charactersAtMost = 1_000_000

/** The origin prefix of a draft that started from one of them; no preset or revision name starts with it. */
export const ownOrigin = (name: string) => `own:${name}`
export const nameOfOwn = (origin: string) => (origin.startsWith('own:') ? origin.slice(4) : undefined)

/** Normalizes a name for storage. */
export const tidyName = (name: string) => name.trim().replace(/\s+/g, ' ').slice(0, nameAtMost)

/** Adds a preset, sorted by name, replacing one with the same name. undefined when the limit is exceeded. */
export function withPreset(presets: readonly OwnPreset[], added: OwnPreset): OwnPreset[] | undefined {
  const next = [...withoutPreset(presets, added.name), added].sort((a, b) =>
    a.name.localeCompare(b.name, undefined, { numeric: true })
  )
  return next.reduce((sum, p) => sum + p.name.length + p.text.length, 0) > charactersAtMost ? undefined : next
}

export function withoutPreset(presets: readonly OwnPreset[], name: string): OwnPreset[] {
  return presets.filter((p) => p.name !== name)
}

/** Its description: the text of its first comment; '' when it does not start with one. */
export function aboutOf(text: string): string {
  const words: string[] = []
  for (const line of text.split('\n')) {
    const comment = /^#\s*(.*)$/.exec(line.trim())
    if (comment) words.push(comment[1] ?? '')
    else if (line.trim() || words.length) break
  }
  return words.join(' ').trim()
}

/** Parses stored presets from JSON and drops invalid ones. */
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
