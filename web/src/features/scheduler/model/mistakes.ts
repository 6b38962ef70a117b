// The mistakes that the server finds in a configuration, with and without a line in the text.

import type { ErrorDetail } from '@/api/types'
import type { Problem } from '@/features/yaml/model/documents'

/** Mistakes with a line, as problems for the editor. Adds the field if the message does not contain it. */
export function problemsOf(mistakes: readonly ErrorDetail[]): Problem[] {
  return mistakes.flatMap(({ line, column, field, message }): Problem[] => {
    if (!line) return []
    return [
      {
        line,
        ...(column ? { column } : {}),
        message: field && !message.includes(field) ? `${field}: ${message}` : message,
      },
    ]
  })
}

export function withoutLine(mistakes: readonly ErrorDetail[]): ErrorDetail[] {
  return mistakes.filter((m) => !m.line)
}

export function firstPlace(mistakes: readonly ErrorDetail[]): { line: number; column: number | undefined } | undefined {
  const first = mistakes.find((m) => m.line)
  return first?.line ? { line: first.line, column: first.column } : undefined
}
