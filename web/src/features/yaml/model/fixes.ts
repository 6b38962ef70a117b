// Fixes for mistyped keys.

import { meantAt } from './completion'
import type { Problem } from './documents'
import type { SchemaSource } from './schema'
import type { Lines } from './yamlSpot'

/** Replaces the characters from column `from` to column `to` (from 0) of the problem's line. */
export interface Fix {
  from: number
  to: number
  text: string
}

/** The fixes of those problems that a mistyped key explains. Problems outside the text have none. */
export async function fixesOf(
  schema: SchemaSource,
  lines: Lines,
  problems: readonly Problem[]
): Promise<Map<Problem, Fix>> {
  const fixes = new Map<Problem, Fix>()
  for (const problem of problems) {
    if (problem.line < 1 || problem.line > lines.count) continue
    const meant = await meantAt(schema, lines, problem.line)
    if (meant) fixes.set(problem, { from: meant.from, to: meant.to, text: meant.key })
  }
  return fixes
}
