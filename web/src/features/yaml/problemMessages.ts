// The messages of problems in the user's language.

import { t } from '@/i18n'
import type { Problem } from './model/documents'

/** Translates our own messages; those of the parser and the server stay unchanged. */
export const translated = (problems: readonly Problem[]): Problem[] =>
  problems.map((problem) =>
    problem.says ? { ...problem, message: t(`problem.${problem.says.key}`, { ...problem.says }) } : problem
  )
