import { expect, it } from 'vitest'
import type { LessonSummary } from '@/api/learn'
import { courseOf, matching } from './course'
import { noProgress, withLesson } from './progress'

const lesson = (id: string, line: number, order: number, more: Partial<LessonSummary> = {}): LessonSummary => ({
  id,
  kind: 'lesson',
  title: id,
  goal: '',
  line,
  order,
  minutes: 5,
  extensionPoint: '',
  steps: 4,
  checks: 2,
  languages: ['en', 'ja'],
  ...more,
})
const all = [
  lesson('taints', 2, 4),
  lesson('what', 1, 1),
  lesson('mine', 1, 9, { own: true }),
  lesson('scores', 1, 2, { extensionPoint: 'PreScore, Score' }),
  { ...lesson('one-line', 0, 1), kind: 'challenge' as const },
]

it('sorts lessons into lines, and numbers and draws them in order', () => {
  const course = courseOf(all, noProgress())
  expect(
    course.lines.map(({ line, stops }) => [line, ...stops.map((s) => `${s.number} ${s.lesson.id} ${s.drawing}`)])
  ).toEqual([
    [1, '1 what 0', '2 scores 1', '3 mine undefined'],
    [2, '4 taints 2'],
  ])
  expect(course.challenges.map((s) => s.lesson.id)).toEqual(['one-line'])
  expect(course.next?.lesson.id).toBe('what')
})

it('goes on with the lesson under way, then with the first that is not done', () => {
  let progress = withLesson(withLesson(noProgress(), 'what', { steps: 4, done: '2026-01-01T00:00:00Z' }), 'taints', {
    at: 1,
    steps: 4,
  })
  expect(courseOf(all, progress)).toMatchObject({
    done: 1,
    underWay: 1,
    total: 4,
    next: { lesson: { id: 'taints' }, state: 'here' },
  })
  progress = withLesson(progress, 'taints', { done: '2026-01-01T00:00:00Z' })
  expect(courseOf(all, progress).next?.lesson.id).toBe('scores')
})

it('finds lessons by every word', () => {
  expect(matching(all, 'score pre').map(({ id }) => id)).toEqual(['scores'])
  expect(matching(all, 'nothing')).toEqual([])
})
