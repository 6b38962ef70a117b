// How many lines differ between two texts, as the editor's own comparison counts them.

import { diff } from '@codemirror/merge'

export interface LineDifference {
  added: number
  removed: number
}

/** The lines to add and to remove that make `before` into `after`. */
export function lineDifference(before: string, after: string): LineDifference {
  const letters = new Map<string, string>()
  const changes = diff(inLetters(before, letters), inLetters(after, letters), { scanLimit })
  return {
    added: changes.reduce((sum, { fromB, toB }) => sum + toB - fromB, 0),
    removed: changes.reduce((sum, { fromA, toA }) => sum + toA - fromA, 0),
  }
}

/** Texts that differ in more lines than this are compared faster and less exactly. */
const scanLimit = 2000

/** diff compares characters: a text with one for each line, the same for equal lines. */
function inLetters(text: string, letters: Map<string, string>): string {
  // The line break at the end belongs to the last line.
  const lines = text.replace(/\n$/, '').split('\n')
  return lines
    .map((line) => {
      const letter = letters.get(line) ?? letterOf(letters.size)
      letters.set(line, letter)
      return letter
    })
    .join('')
}

/** Halves of surrogate pairs are no characters of their own. More than 63,488 different lines share letters. */
const letterOf = (n: number) => String.fromCharCode(n < 0xd800 ? n : n + 0x800)
