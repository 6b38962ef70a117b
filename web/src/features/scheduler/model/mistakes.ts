// What the server says is wrong with a configuration, told apart by whether it has a place in the text.

import type { ErrorDetail } from '@/api/types'
import type { Problem } from '@/features/yaml/model/documents'

/** Mistakes with a line, as the editor marks them. The field is named where the message does not name it. */
export function problemsOf(mistakes: readonly ErrorDetail[]): Problem[] {
  return mistakes.flatMap(({ line, column, field, message }): Problem[] => {
    if (!line) return []
    return [{ line, ...(column ? { column } : {}), message: field && !message.includes(field) ? `${field}: ${message}` : message }]
  })
}

/** Mistakes without a line. */
export function withoutLine(mistakes: readonly ErrorDetail[]): ErrorDetail[] {
  return mistakes.filter((m) => !m.line)
}

/** The first mistake with a line. */
export function firstPlace(mistakes: readonly ErrorDetail[]): { line: number; column: number | undefined } | undefined {
  const first = mistakes.find((m) => m.line)
  return first?.line ? { line: first.line, column: first.column } : undefined
}
