// How many lines differ between two texts.

export interface LineDifference {
  added: number
  removed: number
}

/** Beyond so many comparisons lines are only counted, wherever they stand. */
const comparisonsAtMost = 4_000_000

/** The fewest lines to add and to remove that make `before` into `after`. */
export function lineDifference(before: string, after: string): LineDifference {
  if (before === after) return { added: 0, removed: 0 }
  const [a, b] = withoutCommonEnds(linesOf(before), linesOf(after))
  const kept = a.length * b.length > comparisonsAtMost ? common(a, b) : longestCommon(a, b)
  return { added: b.length - kept, removed: a.length - kept }
}

/** The line break at the end belongs to the last line. */
const linesOf = (text: string) => text.replace(/\n$/, '').split('\n')

function withoutCommonEnds(a: string[], b: string[]): [string[], string[]] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)]
}

/** The length of the longest common subsequence. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Uint32Array(b.length + 1)
  for (const line of a) {
    const next = new Uint32Array(b.length + 1)
    b.forEach((other, j) => {
      next[j + 1] = line === other ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0)
    })
    row = next
  }
  return row[b.length] ?? 0
}

function common(a: readonly string[], b: readonly string[]): number {
  const left = new Map<string, number>()
  for (const line of a) left.set(line, (left.get(line) ?? 0) + 1)
  let shared = 0
  for (const line of b) {
    const n = left.get(line) ?? 0
    if (n) {
      left.set(line, n - 1)
      shared++
    }
  }
  return shared
}
