// The course map: lines of lessons, where the learner is, and what is next.

import type { LessonSummary } from '@/api/learn'
import { isUnderWay, type LessonProgress, type Progress } from './progress'

export type LessonState = 'done' | 'here' | 'open'

export interface Stop {
  lesson: LessonSummary
  /** Its place in the course, from 1. */
  number: number
  /**
   * Its drawing: the place among the lessons that the simulator brings along, from 0; undefined for
   * a teacher's.
   */
  drawing: number | undefined
  state: LessonState
  progress: LessonProgress | undefined
}

export interface Line {
  /** 1 to 4; another number for lessons that belong to none of them. */
  line: number
  stops: Stop[]
}

export interface Course {
  lines: Line[]
  challenges: Stop[]
  done: number
  underWay: number
  total: number
  /** The lesson to go on with: the one under way, or the first that is not done. */
  next: Stop | undefined
}

export function courseOf(lessons: readonly LessonSummary[], progress: Progress): Course {
  const sorted = [...lessons].sort(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || a.order - b.order || a.id.localeCompare(b.id)
  )
  const course = sorted.filter(({ kind }) => kind === 'lesson')
  const drawn = course.filter(({ own }) => !own)
  const stop = (lesson: LessonSummary, i: number): Stop => {
    const own = progress.lessons[lesson.id]
    const at = drawn.indexOf(lesson)
    return {
      lesson,
      number: i + 1,
      drawing: at >= 0 ? at : undefined,
      progress: own,
      state: own?.done ? 'done' : isUnderWay(own) ? 'here' : 'open',
    }
  }
  const stops = course.map(stop)
  const lines: Line[] = []
  for (const one of stops) {
    const line = one.lesson.line ?? 0
    const last = lines.at(-1)
    if (last?.line === line) last.stops.push(one)
    else lines.push({ line, stops: [one] })
  }
  return {
    lines,
    challenges: sorted.filter(({ kind }) => kind === 'challenge').map(stop),
    done: stops.filter(({ state }) => state === 'done').length,
    underWay: stops.filter(({ state }) => state === 'here').length,
    total: stops.length,
    next: stops.find(({ state }) => state === 'here') ?? stops.find(({ state }) => state === 'open'),
  }
}

/** The lessons whose title, goal or extension point has every word. */
export function matching(lessons: readonly LessonSummary[], text: string): LessonSummary[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return lessons.filter(({ id, title, goal, extensionPoint = '' }) => {
    const all = `${id} ${title} ${goal} ${extensionPoint}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
}
