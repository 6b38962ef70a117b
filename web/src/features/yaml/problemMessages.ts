// The messages of problems in the user's language.

import { useI18n } from 'vue-i18n'
import type { Problem } from './model/documents'

/** Translates our own messages; those of the parser and the server stay unchanged. */
export function useProblemMessages(): (problems: readonly Problem[]) => Problem[] {
  const { t } = useI18n()
  return (problems) =>
    problems.map((problem) =>
      problem.says ? { ...problem, message: t(`problem.${problem.says.key}`, { ...problem.says }) } : problem
    )
}
