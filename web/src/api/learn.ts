// Lessons, challenges and exercises. The trunk has their texts. Checks and answers are graded by the
// simulator that is asked: in a lesson, by the lesson's own branch.

import { based } from './base'
import { bodyOf, client, trunkClient } from './client'
import type { Lesson, LessonGrade, LessonSummary, Prediction, Exercise as ServedExercise } from './schema'
import type { Node, Pod } from './types'

export type {
  LessonSummary,
  Lesson,
  LessonStep,
  LessonCheck as Check,
  Prediction,
  NodeGrade,
  LessonGrade as CheckResult,
  LessonResult,
  AnsweredCheck,
} from './schema'

export type Answer = string | number | string[] | Prediction

export interface ExerciseKey {
  /** '' for any. */
  plugin: string
  level: number
  /** 0 lets the simulator choose. */
  seed: number
}
/** The objects are read only where their kind says how. */
export type Exercise = Omit<ServedExercise, 'pod' | 'nodes' | 'pods'> & { pod: Pod; nodes: Node[]; pods: Pod[] }

export async function listLessons(lang: 'en' | 'ja', signal?: AbortSignal): Promise<LessonSummary[]> {
  return (await bodyOf(trunkClient.GET('/api/v1/lessons', { params: { query: { lang } }, signal }))).items
}

export function getLesson(id: string, lang: 'en' | 'ja', signal?: AbortSignal): Promise<Lesson> {
  return bodyOf(trunkClient.GET('/api/v1/lessons/{id}', { params: { path: { id }, query: { lang } }, signal }))
}

/** Does what the step's button says, in this simulator's cluster. */
export async function doStep(id: string, step: string): Promise<void> {
  await client.POST('/api/v1/lessons/{id}/steps/{step}', { params: { path: { id, step } } })
}

/** Where the result of a lesson is to be had as a file that opens without a server. */
export const lessonReportHref = (id: string, lang: 'en' | 'ja'): string =>
  based(`/api/v1/lessons/${encodeURIComponent(id)}/result?format=html&lang=${lang}`)

/** Where the result of an exercise is to be had as such a file. */
export function exerciseReportHref({ plugin, level, seed }: ExerciseKey, { crossedOut, picked }: Prediction): string {
  const query = new URLSearchParams([
    ['format', 'html'],
    ['plugin', plugin],
    ['level', String(level)],
    ['seed', String(seed)],
    ...crossedOut.map((node) => ['crossedOut', node]),
    ['picked', picked],
  ])
  return based(`/api/v1/exercises/result?${query.toString()}`)
}

/** Grades an answer by this simulator's cluster; a state check has none. */
export function checkAnswer(id: string, check: string, lang: 'en' | 'ja', answer?: Answer): Promise<LessonGrade> {
  return bodyOf(
    client.POST('/api/v1/lessons/{id}/checks/{check}', {
      params: { path: { id, check }, query: { lang } },
      body: answer === undefined ? {} : { answer },
    })
  )
}

/** The plugins that exercises can be about. */
export async function listExercisePlugins(signal?: AbortSignal): Promise<string[]> {
  return (await bodyOf(client.GET('/api/v1/exercises', { signal }))).plugins
}

export async function newExercise(key: ExerciseKey, signal?: AbortSignal): Promise<Exercise> {
  return (await bodyOf(client.POST('/api/v1/exercises', { body: key, signal }))) as unknown as Exercise
}

export function gradeExercise(key: ExerciseKey, prediction: Prediction): Promise<LessonGrade> {
  return bodyOf(client.POST('/api/v1/exercises/grade', { body: { ...key, ...prediction } }))
}
