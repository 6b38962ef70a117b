// Configurations that the user saved under a name, in addition to the built-in presets.

/** The origin prefix of a draft that started from one of them; no preset or revision name starts with it. */
export const ownOrigin = (name: string) => `own:${name}`
export const nameOfOwn = (origin: string) => (origin.startsWith('own:') ? origin.slice(4) : undefined)

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
