// The problems of a text that the schemas of its kinds show, while the user is typing.

import { shallowRef, watch, type ComputedRef, type ShallowRef } from 'vue'
import { useTurns } from '@/live/answer'
import type { Entry, ParsedText, Problem } from './model/documents'
import type { SchemaSource } from './model/schema'
import { validate } from './model/validation'

/**
 * How long the user pauses before a problem is shown, in ms: a word that is still being typed is no
 * mistake.
 */
const pause = 700
/** The schemas of more objects than this are not checked while typing. */
const mostEntries = 200

/** The problems of the text after a pause; none while it changes. A kind without a schema has none. */
export function useSchemaProblems(
  parsed: ComputedRef<ParsedText>,
  schema: SchemaSource
): ShallowRef<readonly Problem[]> {
  const problems = shallowRef<readonly Problem[]>([])
  const turns = useTurns()
  watch(
    parsed,
    ({ entries }, _, onCleanup) => {
      problems.value = []
      const signal = turns.next()
      const timer = setTimeout(() => {
        void problemsOf(entries.slice(0, mostEntries), schema).then((found) => {
          if (!signal.aborted) problems.value = found
        })
      }, pause)
      onCleanup(() => clearTimeout(timer))
    },
    { immediate: true }
  )
  return problems
}

/** The problems of entries, at their lines. */
export async function problemsOf(entries: readonly Entry[], schema: SchemaSource): Promise<Problem[]> {
  const found: Problem[] = []
  for (const entry of entries) {
    const root = await schema.root(entry)
    if (!root) continue
    for (const { kind, path, ...says } of validate(entry.object, root)) {
      found.push({
        line: entry.lineOf(path),
        document: entry.line,
        message: `${path}: ${kind}`,
        says: { key: kind, ...says } as NonNullable<Problem['says']>,
      })
    }
  }
  return found
}

/**
 * The server's problems, and those of the schemas beside them. The server says best what it
 * refused; where it does not name a field, the schema knows the line.
 */
export function withSchemaProblems(server: readonly Problem[], schema: readonly Problem[]): Problem[] {
  const lines = new Set(server.filter((p) => p.document === undefined && !p.file).map((p) => p.line))
  const known = new Set(schema.map((p) => p.document))
  return [
    ...server.filter((p) => p.document === undefined || !known.has(p.document)),
    ...schema.filter((p) => !lines.has(p.line)),
  ].sort((a, b) => (a.file ?? '').localeCompare(b.file ?? '') || a.line - b.line)
}
