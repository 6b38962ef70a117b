// The titles of lessons, for a choice of one of them.

import { shallowRef } from 'vue'
import { listLessons, type LessonSummary } from '@/api/learn'
import { language } from '@/i18n/language'

export const lessonTitles = shallowRef<readonly LessonSummary[]>([])
let askedIn = ''

/**
 * Asks once for each language. Without an answer there is nothing to choose, and the next call asks
 * again.
 */
export async function askTitles(): Promise<void> {
  const lang = language.value
  if (lang === askedIn) return
  askedIn = lang
  try {
    lessonTitles.value = await listLessons(lang)
  } catch {
    askedIn = ''
  }
}
