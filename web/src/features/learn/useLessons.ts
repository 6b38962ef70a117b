// The lessons of the simulator, in the user's language.

import { computed, onScopeDispose, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { getLesson, listLessons, type Lesson, type LessonSummary } from '@/api/learn'
import { language, type Language } from '@/i18n/language'
import { courseOf, type Course } from './model/course'
import { progress } from './store/progress'

interface Asked<T> {
  value: Readonly<ShallowRef<T | undefined>>
  error: Readonly<ShallowRef<unknown>>
  again: () => void
}

/** Asks whenever the language or `key` changes, and forgets answers that come too late. */
function useAsked<T>(
  ask: (lang: Language, signal: AbortSignal) => Promise<T> | undefined,
  key: () => unknown = () => ''
): Asked<T> {
  const value = shallowRef<T>()
  const error = shallowRef<unknown>()
  const tries = ref(0)
  let current: AbortController | undefined
  watch(
    [language, key, tries],
    async (_, before) => {
      current?.abort()
      const own = (current = new AbortController())
      // Another lesson's text must not stay; another language's may until the answer comes.
      if (before[1] !== undefined && before[1] !== key()) value.value = undefined
      error.value = undefined
      try {
        const answer = await ask(language.value, own.signal)
        if (!own.signal.aborted) value.value = answer
      } catch (e) {
        if (!own.signal.aborted) error.value = e
      }
    },
    { immediate: true }
  )
  onScopeDispose(() => current?.abort())
  return { value, error, again: () => tries.value++ }
}

export function useLessons(): {
  lessons: Asked<LessonSummary[]>['value']
  course: ComputedRef<Course | undefined>
  error: Asked<never>['error']
  again: () => void
} {
  const { value: lessons, error, again } = useAsked(listLessons)
  return { lessons, course: computed(() => lessons.value && courseOf(lessons.value, progress.value)), error, again }
}

export function useLesson(id: Ref<string>): {
  lesson: Asked<Lesson>['value']
  error: Asked<never>['error']
  again: () => void
} {
  const {
    value: lesson,
    error,
    again,
  } = useAsked(
    (lang, signal) => (id.value ? getLesson(id.value, lang, signal) : undefined),
    () => id.value
  )
  return { lesson, error, again }
}
