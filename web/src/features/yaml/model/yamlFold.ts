// Which lines of a YAML text belong to a key, for folding.

export interface Block {
  /** Line of the key, from 0. */
  head: number
  /** Its last line. */
  last: number
}

/** The blocks of these keys with at least `least` lines below the key; nested blocks are left out. */
export function blocksOf(lines: readonly string[], keys: readonly string[], least: number): Block[] {
  const wanted = new Set(keys)
  const found: Block[] = []
  for (let head = 0; head < lines.length; head++) {
    const match = /^(\s*(?:- )?)([^\s:#'"-][^\s:]*):\s*$/.exec(lines[head] ?? '')
    if (!match || !wanted.has(match[2] ?? '')) continue
    const last = endOf(lines, head, match[1]?.length ?? 0)
    if (last - head < least) continue
    found.push({ head, last })
    head = last
  }
  return found
}

/** A list may have the same indentation as its key. */
function endOf(lines: readonly string[], head: number, column: number): number {
  let last = head
  for (let n = head + 1; n < lines.length; n++) {
    const line = lines[n] ?? ''
    if (!line.trim()) continue
    const indent = line.length - line.trimStart().length
    if (indent < column || (indent === column && !line.startsWith('- ', column))) break
    last = n
  }
  return last
}
